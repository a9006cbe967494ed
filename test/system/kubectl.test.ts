import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const deployment = (name: string, replicas: number, image = "web:1"): string => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: web, image: "${image}" }] }
`;

/** Everyday kubectl commands. */
describe("kubectl 1.35 on a cluster with workloads", () => {
  let cluster: WorkingCluster;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    cluster = await startWorkingCluster("a", "b");
    kubectl = await createKubectl(cluster.kubeconfig);
  });
  afterAll(() => cluster.close());

  const nodesOf = async (app: string): Promise<readonly string[]> =>
    (await kubectl(["get", "pods", "-l", `app=${app}`, "-o", "jsonpath={.items[*].spec.nodeName}"]))
      .split(" ")
      .toSorted();

  it("follows a deployment's rollout, waits for it, scales and restarts it", async () => {
    await kubectl(["apply", "-f", "-"], deployment("web", 2));
    expect(await kubectl(["rollout", "status", "deployment/web", "--timeout=60s"])).toContain(
      'deployment "web" successfully rolled out',
    );
    await kubectl(["wait", "--for=condition=Available", "deployment/web", "--timeout=60s"]);
    expect(await nodesOf("web")).toEqual(["a", "b"]);
    await kubectl(["scale", "deployment/web", "--replicas=3"]);
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", "--timeout=60s"]);
    const before = await kubectl(["get", "pods", "-l", "app=web", "-o", "name"]);
    await kubectl(["rollout", "restart", "deployment/web"]);
    await kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await eventually(async () => {
      const after = await kubectl(["get", "pods", "-l", "app=web", "-o", "name"]);
      expect(after.split("\n").filter((name) => name !== "" && before.includes(name))).toEqual([]);
    });
    expect(await kubectl(["get", "deployment", "web", "--no-headers"])).toMatch(/^web\s+3\/3\s+3\s+3\s/);
  });

  it("describes a pod, its deployment and its node, with their events", async () => {
    const name = await kubectl(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}"]);
    const pod = await kubectl(["describe", "pod", name]);
    expect(pod).toMatch(/Normal\s+Scheduled\s+.*default-scheduler\s+Successfully assigned default\/web-\S+ to [ab]/);
    expect(pod).toMatch(/Normal\s+Started\s+.*kubelet\s+Container started/);
    expect(pod).toMatch(/Controlled By:\s+ReplicaSet\/web-/);
    expect(await kubectl(["describe", "deployment", "web"])).toMatch(
      /ScalingReplicaSet\s.*Scaled up replica set web-\S+ from 0 to/,
    );
    expect(await kubectl(["describe", "node", "a"])).toMatch(/Ready\s+True\s.*KubeletReady/);
    expect(await kubectl(["events", "--for", `pod/${name}`])).toContain("Scheduled");
    expect(await kubectl(["get", "events", "--field-selector", `involvedObject.name=${name}`, "-o", "name"])).toContain(
      "event/",
    );
  });

  it("shows why a pod is not scheduled", async () => {
    const spec = '{"spec":{"nodeSelector":{"zone":"moon"}}}';
    await kubectl(["run", "lost", "--image=web:1", `--overrides=${spec}`]);
    await eventually(async () =>
      expect(await kubectl(["describe", "pod", "lost"])).toMatch(
        /FailedScheduling\s.*0\/2 nodes are available: 2 node\(s\) didn't match Pod's node affinity\/selector\./,
      ),
    );
    await kubectl(["delete", "pod", "lost", "--timeout=60s"]);
  });

  it("rejects commands that need a kubelet or a metrics server, with the reason", async () => {
    const name = await kubectl(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}"]);
    const logs = await kubectl.attempt(["logs", name]);
    expect(logs.code).toBe(1);
    expect(logs.stderr).toMatch(/^(E.*\n)*(Error from server|error:)/);
    expect((await kubectl.attempt(["exec", name, "--", "ls"])).code).toBe(1);
    expect(await kubectl.attempt(["top", "nodes"])).toMatchObject({
      code: 1,
      stderr: "error: Metrics API not available\n",
    });
  });

  it("cordons, drains under a budget and uncordons a node", async () => {
    await kubectl(["create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=2"]);
    await eventually(async () =>
      expect(await kubectl(["get", "pdb", "web", "--no-headers"])).toMatch(/^web\s+2\s+N\/A\s+1\s/),
    );
    const drained = await kubectl(["drain", "a", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s"]);
    expect(drained).toContain("node/a drained");
    await eventually(async () => expect(await nodesOf("web")).toEqual(["b", "b", "b"]));
    expect(await kubectl(["get", "node", "a", "--no-headers"])).toContain("Ready,SchedulingDisabled");
    expect(await kubectl(["get", "node", "a", "-o", "jsonpath={.spec.taints[*].key}"])).toBe(
      "node.kubernetes.io/unschedulable",
    );
    await kubectl(["uncordon", "a"]);
    await eventually(async () => expect(await kubectl(["get", "node", "a", "-o", "jsonpath={.spec.taints}"])).toBe(""));
    // A budget that can never be met blocks a drain until its timeout, and is named.
    await kubectl(["patch", "pdb", "web", "--type=merge", "-p", '{"spec":{"minAvailable":3}}']);
    const stuck = await kubectl.attempt(["drain", "b", "--timeout=8s"]);
    expect(stuck.code).toBe(1);
    expect(stuck.stdout + stuck.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    await kubectl(["uncordon", "b"]);
    await kubectl(["delete", "pdb", "web"]);
  });

  it("labels, annotates and taints nodes, and removes all of it", async () => {
    await kubectl(["label", "node", "a", "team=blue"]);
    await kubectl(["annotate", "node", "a", "why=test"]);
    await kubectl(["taint", "node", "a", "spot=yes:NoSchedule"]);
    expect(
      await kubectl(["get", "nodes", "-l", "team=blue", "-o", "custom-columns=N:.metadata.name,T:.spec.taints[*].key"]),
    ).toMatch(/^N\s+T\na\s+spot\n$/);
    expect((await kubectl.attempt(["label", "node", "a", "team=red"])).stderr).toContain("--overwrite is false");
    await kubectl(["taint", "node", "a", "spot-"]);
    await kubectl(["label", "node", "a", "team-"]);
    expect(await kubectl(["get", "nodes", "-l", "team", "-o", "name"])).toBe("");
  });

  it("edits with an editor, shows a diff, and applies what it shows", async () => {
    const editor = join(cluster.folder, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nsed -i "s/replicas: 3/replicas: 2/" "$1"\n', { mode: 0o755 });
    const editing = await createKubectl(cluster.kubeconfig, { EDITOR: editor });
    expect(await editing(["edit", "deployment", "web"])).toContain("deployment.apps/web edited");
    expect(await kubectl(["get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"])).toBe("2");
    const unchanged = await createKubectl(cluster.kubeconfig, { EDITOR: "true" });
    expect((await unchanged.attempt(["edit", "deployment", "web"])).stderr).toContain("no changes made");

    const manifest = deployment("other", 1, "web:2");
    await kubectl(["apply", "--server-side", "-f", "-"], deployment("other", 1));
    const diff = await kubectl.attempt(["diff", "--server-side", "-f", "-"], manifest);
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringMatching(/-\s+- image: web:1\n\+\s+- image: web:2/) });
    expect(await kubectl(["apply", "--server-side", "-f", "-"], manifest)).toContain("serverside-applied");
    expect((await kubectl.attempt(["diff", "--server-side", "-f", "-"], manifest)).code).toBe(0);
    await kubectl(["delete", "deployment", "other", "--timeout=60s"]);
  });

  it("watches changes as they come", async () => {
    await kubectl(["create", "configmap", "seen", "--from-literal=a=1"]);
    const watching = kubectl.start(["get", "configmap", "seen", "-w", "--output-watch-events"]);
    const events = (): readonly (string | undefined)[] =>
      watching
        .output()
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(/\s+/)[0]);
    await eventually(async () => expect(events()).toEqual(["ADDED"]));
    await kubectl(["label", "configmap", "seen", "x=y"]);
    await eventually(async () => expect(events()).toEqual(["ADDED", "MODIFIED"]));
    await kubectl(["delete", "configmap", "seen"]);
    await eventually(async () => expect(events()).toEqual(["ADDED", "MODIFIED", "DELETED"]));
    await watching.stop();
  });

  it("explains fields of built-in kinds, to their leaves", async () => {
    expect(await kubectl(["explain", "pod.spec.tolerations.tolerationSeconds"])).toMatch(/tolerationSeconds <integer>/);
    expect(await kubectl(["explain", "poddisruptionbudget.spec", "--recursive"])).toContain(
      "unhealthyPodEvictionPolicy",
    );
    expect((await kubectl.attempt(["explain", "node.spec.nothing"])).stderr).toContain(
      'field "nothing" does not exist',
    );
  });

  it("shows its user and permissions, by certificate and by impersonation", async () => {
    expect(await kubectl(["auth", "whoami"])).toMatch(/Username\s+admin\s[\s\S]*system:masters/);
    expect(await kubectl(["config", "view", "-o", "jsonpath={.users[0].user.client-key-data}"])).toBe("DATA+OMITTED");
    expect(await kubectl(["config", "view", "--raw"])).toContain("client-certificate-data");

    await kubectl(["create", "role", "viewer", "--verb=get,list,watch", "--resource=pods,deployments.apps"]);
    await kubectl(["create", "rolebinding", "jane-views", "--role=viewer", "--user=jane"]);
    const jane = await createKubectl(await cluster.kubeconfigOf("jane", ["team"]));
    expect(await jane(["auth", "whoami", "-o", "jsonpath={.status.userInfo.groups}"])).toBe(
      '["team","system:authenticated"]',
    );
    expect(await jane(["get", "pods", "-o", "name"])).toContain("pod/web-");
    expect((await jane.attempt(["auth", "can-i", "get", "secrets"])).stdout.trim()).toBe("no");
    expect((await jane(["auth", "can-i", "list", "deployments.apps"])).trim()).toBe("yes");
    const list = await jane(["auth", "can-i", "--list"]);
    expect(list).toMatch(/deployments\.apps\s+\[\]\s+\[\]\s+\[get list watch\]/);
    expect(list).toMatch(/selfsubjectreviews\.authentication\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]/);
    expect((await jane.attempt(["get", "nodes"])).stderr).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope\n',
    );
    expect((await jane.attempt(["get", "pods", "--as=admin"])).stderr).toContain('cannot impersonate resource "users"');
    expect((await kubectl.attempt(["auth", "can-i", "delete", "pods", "--as=jane"])).stdout.trim()).toBe("no");
  });
});
