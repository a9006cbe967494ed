import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crds, machineApiVersion } from "@millwright/core/machine-api";
import { kubeconfigFor } from "@millwright/devcluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import {
  aBarePod,
  aBudget,
  aDaemonSet,
  aDeployment,
  aStatefulSet,
  listOf,
  storageClass,
} from "../harness/manifests.ts";
import { startMillwright } from "../harness/millwright.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const machine = {
  apiVersion: machineApiVersion,
  kind: "Machine",
  metadata: {
    name: "m",
    annotations: {
      "machine.millwright.dev/drain-rules": JSON.stringify([
        { behavior: "Drain", order: 1, selector: { matchLabels: { app: "db" } } },
      ]),
    },
  },
  spec: { class: { kind: "MachineClass", name: "none" }, providerID: "sim:///a" },
};

describe("millwright drain --dry-run", () => {
  let cluster: WorkingCluster;
  let kubectl: ForeignTool;

  const dryRun = async (...args: string[]): Promise<{ readonly code: number; readonly output: string }> => {
    const command = startMillwright(["drain", ...args]);
    const code = await command.ended;
    return { code, output: command.output() };
  };
  const preview = (...args: string[]) => dryRun("a", "--dry-run", "--kubeconfig", cluster.kubeconfig, ...args);

  beforeAll(async () => {
    cluster = await startWorkingCluster("a");
    kubectl = await createKubectl(cluster.kubeconfig);
    for (const crd of crds()) await kubectl(["create", "-f", "-"], JSON.stringify(crd));
    await eventually(() => kubectl(["create", "-f", "-"], JSON.stringify(machine)));
    await kubectl(
      ["apply", "-f", "-"],
      listOf(
        storageClass,
        aDeployment("web", 2),
        aBudget("web", { minAvailable: 1 }),
        aStatefulSet("db", 2),
        aDaemonSet("agent"),
        aBarePod("alone"),
      ),
    );
    await kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await kubectl(["wait", "--for=jsonpath={.status.disruptionsAllowed}=1", "pdb/web", "--timeout=60s"]);
    await kubectl(["wait", "--for=condition=Ready", "pod/alone", "--timeout=60s"]);
  });
  afterAll(() => cluster.close());

  it("shows the order and reason of evictions, exits with status 0, and writes nothing", async () => {
    const before = await kubectl(["get", "pods,nodes", "-o", "jsonpath={.items[*].metadata.uid}"]);
    const { code, output } = await preview();
    expect(code, output).toBe(0);
    expect(output).toContain("Machine:       default/m");
    expect(output).toMatch(/default\/agent-\S+\s+stays\s+its DaemonSet would recreate it/);
    expect(output).toMatch(/default\/alone\s+evicted\s+has no controller\s+0\s+-\s+allows it/);
    expect(output).toMatch(/default\/db-0\s+evicted\s+its controller recreates it\s+1\s+pvc-\S+\s+allows it/);
    // One of two pods within its budget at a time, the database last by the machine's rule, and one volume after another.
    expect(output).toMatch(
      /1\. evict: default\/alone, default\/web-\S+\n\s+2\. evict: default\/web-\S+\n\s+3\. evict: default\/db-0\n\s+4\. evict: default\/db-1\n/,
    );
    expect(output).toContain("A drain of node a would complete by itself.");
    expect(await kubectl(["get", "pods,nodes", "-o", "jsonpath={.items[*].metadata.uid}"])).toBe(before);
    expect(await kubectl(["get", "node", "a", "-o", "jsonpath={.spec.unschedulable}"])).toBe("");
    const writes = cluster.server.requests.filter(
      ({ userAgent, verb }) => userAgent.includes("millwright") && !["get", "list"].includes(verb),
    );
    expect(writes).toEqual([]);
  });

  it("names a budget that can never be met, and exits with status 3 until it is fixed", async () => {
    await kubectl(["patch", "pdb", "web", "-p", '{"spec":{"minAvailable":2}}']);
    await kubectl(["wait", "--for=jsonpath={.status.disruptionsAllowed}=0", "pdb/web", "--timeout=60s"]);
    const { code, output } = await preview();
    expect(code, output).toBe(3);
    expect(output).toContain(
      "PodDisruptionBudget default/web can never be met: minAvailable is 2 of 2 pods; lower it, or run more pods",
    );
    const json: unknown = JSON.parse((await preview("-o", "json")).output);
    expect(json).toMatchObject({ outcome: "blocked", blockedBy: [{ kind: "budget", cause: "misconfigured" }, {}] });
    await kubectl(["patch", "pdb", "web", "-p", '{"spec":{"minAvailable":1}}']);
    await kubectl(["wait", "--for=jsonpath={.status.disruptionsAllowed}=1", "pdb/web", "--timeout=60s"]);
    expect((await preview()).code).toBe(0);
  });

  it("does nothing without --dry-run, and names the commands that do", async () => {
    const { code, output } = await dryRun("a", "--kubeconfig", cluster.kubeconfig);
    expect(code).toBe(2);
    expect(output).toContain("delete its Machine (kubectl delete machine NAME), or add --dry-run");
  });

  it.each([
    ["a node that is not there", ["b", "--dry-run"], async () => cluster.kubeconfig, 'there is no node "b"'],
    [
      "a missing permission",
      ["a", "--dry-run"],
      () => cluster.kubeconfigOf("jane"),
      /User "jane" cannot get resource "nodes".*needs get and list on nodes, pods/,
    ],
  ])("names %s in one line", async (_, args, kubeconfig, text) => {
    const { code, output } = await dryRun(...args, "--kubeconfig", await kubeconfig());
    expect(code).toBe(1);
    expect(output.trimEnd().split("\n"), output).toHaveLength(1);
    expect(output).toMatch(text);
  });

  it("reports an unreachable cluster in one line", async () => {
    const file = join(cluster.folder, "kubeconfig-of-nothing");
    await writeFile(file, kubeconfigFor("http://127.0.0.1:1"));
    const { code, output } = await dryRun("a", "--dry-run", "--kubeconfig", file);
    expect(code).toBe(1);
    expect(output.trimEnd().split("\n"), output).toHaveLength(1);
    expect(output).toContain("the API server is unreachable");
  });
});
