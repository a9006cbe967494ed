import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "@millwright/base";
import { createCloudClient, type MockCloud } from "@millwright/provider-mock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** A service of three pods, two of which must always be ready. */
const service = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: web, image: web }] }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web }
spec: { minAvailable: 2, selector: { matchLabels: { app: web } } }
`;

/** One sequence from the first start to the last VM: each test continues after the previous one. */
describe("millwright dev, driven by kubectl", () => {
  let dev: MillwrightProcess;
  let kubectl: ForeignTool;
  let kubeconfig: string;
  let cloud: MockCloud;

  const phases = async (): Promise<readonly string[]> =>
    (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].status.currentStatus.phase}"]))
      .split(" ")
      .filter((phase) => phase !== "");
  const waitForReady = (replicas: number): Promise<string> =>
    kubectl([
      "wait",
      `--for=jsonpath={.status.readyReplicas}=${replicas}`,
      "machinedeployment/example",
      "--timeout=60s",
    ]);
  /** Waits until the rollout is complete by the condition that the cluster-autoscaler waits for, and no old machine is left. */
  const waitForRollout = (replicas: number): Promise<void> =>
    eventually(async () => {
      const [generation, observed, updated, total, reason] = (
        await kubectl([
          "get",
          "machinedeployment",
          "example",
          "-o",
          'jsonpath={.metadata.generation} {.status.observedGeneration} {.status.updatedReplicas} {.status.replicas} {.status.conditions[?(@.type=="Progressing")].reason}',
        ])
      ).split(" ");
      // Until the controllers have observed a change, the status is that of the previous rollout.
      expect({ observed, updated, total, reason }).toEqual({
        observed: generation,
        updated: `${replicas}`,
        total: `${replicas}`,
        reason: "NewMachineSetAvailable",
      });
    }, 60_000);

  beforeAll(async () => {
    dev = startMillwright(["dev"]);
    [, kubeconfig = ""] = await dev.waitFor(/kubeconfig: (\S+)/);
    await dev.waitFor(/Ctrl-C stops everything/);
    kubectl = await createKubectl(kubeconfig);
    const endpoint = await kubectl(["get", "secret", "example", "-o", "jsonpath={.data.endpoint}"]);
    cloud = createCloudClient({ endpoint: Buffer.from(endpoint, "base64").toString("utf8"), clock: systemClock });
  });

  afterAll(() => dev.stop("SIGKILL"));

  it("starts the example with three running machines, each with a ready node and one VM", async () => {
    await waitForReady(3);
    expect(await phases()).toEqual(["Running", "Running", "Running"]);
    await kubectl(["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s"]);
    expect((await kubectl(["get", "nodes", "--no-headers"])).trim().split("\n")).toHaveLength(3);
    const vms = (await cloud.listVms()).map(({ providerId }) => providerId).toSorted();
    const ids = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].spec.providerID}"]))
      .split(" ")
      .toSorted();
    expect(ids).toEqual(vms);
  });

  it("shows machines with MCM's columns and the reason", async () => {
    const [header, row] = (await kubectl(["get", "mc", "-o", "wide"])).split("\n");
    expect(header?.split(/\s{2,}/)).toEqual([
      "NAME",
      "STATUS",
      "AGE",
      "NODE",
      "PROVIDERID",
      "REASON",
      "CLASS",
      "TYPE",
      "ZONE",
      "MESSAGE",
    ]);
    expect(row).toMatch(
      /^example-\S+ +Running +\d+[ms]\S* +example-\S+ +mock:\/\/\/local\/i-[0-9a-f]{12} +Ready +example +\S+ +local-a +Machine example-\S+ successfully joined the cluster in \S+$/,
    );
  });

  it("lists all kinds by their category, and deployments and sets with what they do", async () => {
    const names = (await kubectl(["get", "millwright", "-o", "name"])).trim().split("\n");
    expect(new Set(names.map((name) => name.split("/")[0]))).toEqual(
      new Set(
        ["machineclass", "machinedeployment", "machine", "machineset"].map((kind) => `${kind}.machine.sapcloud.io`),
      ),
    );
    const [header, row] = (await kubectl(["get", "mcd", "-o", "wide"])).split("\n");
    expect(header?.trim().split(/\s+/)).toEqual([
      "NAME",
      "READY",
      "DESIRED",
      "UP-TO-DATE",
      "AVAILABLE",
      "AGE",
      "REASON",
      "CLASS",
      "MESSAGE",
    ]);
    expect(row).toMatch(/^example +3 +3 +3 +3 +\d+\S* +Ready +example *$/);
    const [sets] = (await kubectl(["get", "mcs", "-o", "wide"])).split("\n");
    expect(sets?.trim().split(/\s+/)).toEqual([
      "NAME",
      "DESIRED",
      "CURRENT",
      "READY",
      "AGE",
      "REASON",
      "CLASS",
      "MESSAGE",
    ]);
  });

  it("describes a machine with its events", async () => {
    const text = await kubectl(["describe", "machines"]);
    expect(text).toContain("successfully joined the cluster in");
    expect(text).toMatch(/Normal +CreatedVM .* millwright +Created VM mock:/);
  });

  it("describes a machine by `millwright describe machine`, as text and as JSON", async () => {
    const [name = ""] = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
    const describeIt = async (...more: readonly string[]): Promise<string> => {
      const process = startMillwright(["describe", "machine", name, "--control-kubeconfig", kubeconfig, ...more]);
      expect(await process.ended).toBe(0);
      return process.output();
    };
    expect(await describeIt()).toMatch(/Phase: +Running for [\s\S]* Ready +True +Ready[\s\S]*What you can do:/);
    expect(JSON.parse(await describeIt("-o", "json"))).toMatchObject({
      name,
      phase: "Running",
      machineDeployment: "example",
      node: { state: "present" },
      history: [{ operation: "Create", outcome: "Successful" }],
    });
  });

  it("follows a watch while it scales up to five", async () => {
    const watch = kubectl.start(["get", "machines", "-w", "-o", "jsonpath={.status.currentStatus.phase}{'\\n'}"]);
    await eventually(async () => expect(watch.output()).toContain("Running\n"));
    expect(await kubectl(["scale", "machinedeployment", "example", "--replicas=5"])).toContain("scaled");
    await waitForReady(5);
    await eventually(async () => expect(watch.output()).toContain("Pending\n"));
    await watch.stop();
    expect(await cloud.listVms()).toHaveLength(5);
  });

  it("rolls out another class within the bounds for nodes, VMs and a service on them", async () => {
    await kubectl(["apply", "-f", "-"], service);
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", "--timeout=60s"]);
    const patch = '{"spec":{"template":{"spec":{"class":{"name":"example-large"}}}}}';
    await kubectl(["patch", "machinedeployment", "example", "--type=merge", "-p", patch]);
    const seen: { readonly ready: number; readonly vms: number; readonly serving: number }[] = [];
    const stop = new AbortController();
    const observer = (async () => {
      while (!stop.signal.aborted) {
        const ready = (await phases()).filter((phase) => phase === "Running").length;
        const pods = await kubectl([
          "get",
          "pods",
          "-o",
          'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}',
        ]);
        const serving = pods.split(" ").filter((status) => status === "True").length;
        seen.push({ ready, serving, vms: (await cloud.listVms({ states: ["pending", "booting", "running"] })).length });
      }
    })();
    await waitForRollout(5);
    stop.abort();
    await observer;
    expect(Math.min(...seen.map(({ ready }) => ready))).toBeGreaterThanOrEqual(5);
    expect(Math.min(...seen.map(({ serving }) => serving))).toBeGreaterThanOrEqual(2);
    expect(Math.max(...seen.map(({ vms }) => vms))).toBe(6);
    expect(new Set((await cloud.listVms()).map(({ machineType }) => machineType))).toEqual(new Set(["large"]));
  });

  it("applies a manifest client-side and server-side, and rejects a wrong type with its field", async () => {
    const manifest = (replicas: string): string => `
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineDeployment
metadata: { name: second }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { name: second } }
  template:
    metadata: { labels: { name: second } }
    spec: { class: { kind: MachineClass, name: example } }
`;
    expect(await kubectl(["apply", "-f", "-"], manifest("1"))).toContain("created");
    expect(await kubectl(["apply", "-f", "-"], manifest("0"))).toContain("configured");
    expect(await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], manifest("1"))).toContain(
      "serverside-applied",
    );
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=1", "machinedeployment/second", "--timeout=60s"]);
    const refused = await kubectl.attempt(["apply", "-f", "-"], manifest('"many"'));
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("spec.replicas");
    await kubectl(["delete", "machinedeployment", "second", "--timeout=60s"]);
  });

  it("names the pod that a drain waits for, and continues when its budget allows it", async () => {
    await kubectl(["patch", "poddisruptionbudget", "web", "--type=merge", "-p", '{"spec":{"minAvailable":3}}']);
    const nodeName = await kubectl(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].spec.nodeName}"]);
    const machine = await kubectl([
      "get",
      "machines",
      "-l",
      `node=${nodeName}`,
      "-o",
      "jsonpath={.items[0].metadata.name}",
    ]);
    await kubectl(["delete", "machine", machine, "--wait=false"]);
    await eventually(async () => {
      const description = await kubectl([
        "get",
        "machine",
        machine,
        "-o",
        "jsonpath={.status.lastOperation.description}",
      ]);
      expect(description).toMatch(
        /^Drain not completed yet .*\n\* Pods? default\/web-\S+.*: cannot evict pod .* PodDisruptionBudget default\/web can never be met: .* Initiate node drain$/,
      );
    });
    await kubectl(["delete", "poddisruptionbudget", "web"]);
    await kubectl(["wait", "--for=delete", `machine/${machine}`, "--timeout=60s"]);
    await kubectl(["delete", "deployment", "web"]);
    await waitForRollout(5);
  });

  it("replaces a machine that a user deletes", async () => {
    const [name = ""] = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
    await kubectl(["delete", "machine", name, "--timeout=60s"]);
    await waitForReady(5);
    await waitForRollout(5);
    expect(await kubectl(["get", "machines", "-o", "name"])).not.toContain(name);
  });

  it("scales down to two", async () => {
    await kubectl(["scale", "machinedeployment", "example", "--replicas=2"]);
    await waitForRollout(2);
    await eventually(async () => expect(await cloud.listVms()).toHaveLength(2));
  });

  it("deletes the deployment with its sets, machines, VMs and nodes", async () => {
    await kubectl(["delete", "machinedeployment", "example", "--timeout=60s"]);
    await kubectl(["delete", "machineclass", "--all", "--timeout=60s"]);
    expect(await kubectl(["get", "machines,machinesets,machinedeployments,machineclasses,nodes", "-o", "name"])).toBe(
      "",
    );
    expect(await cloud.listVms()).toEqual([]);
  });

  it("stops on Ctrl-C with status 0 and leaves no file and no listener", async () => {
    const { port } = new URL(
      (await kubectl(["config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"])).trim(),
    );
    expect(await dev.stop("SIGINT")).toBe(0);
    expect(await exists(dirname(kubeconfig))).toBe(false);
    await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow("fetch failed");
  });
});
