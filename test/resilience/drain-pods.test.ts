import { afterEach, describe, expect, it } from "vitest";
import { controllersAgent } from "../harness/controlled-fleet.ts";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aBarePod, aDaemonSet, aDeployment } from "../harness/manifests.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const podDrain = "cluster.x-k8s.io/drain";

/** Drains of pods by the shipped command. */
describe("a drain and the pods on its node", () => {
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;

  const namesOn = async (): Promise<readonly string[]> =>
    (await fleet.podsOn(node)).map(({ metadata }) => metadata.name ?? "");
  const begin = async (...flags: readonly string[]): Promise<void> => {
    fleet = await startDrainingFleet(2, ...flags);
    ({ machine, node } = await fleet.victim());
  };
  afterEach(() => fleet.close());

  it("evicts pods with local storage or without a controller, too, and skips mirror, DaemonSet and completed pods", async () => {
    await begin();
    const mirror = aBarePod("mirror", node, { annotations: { "kubernetes.io/config.mirror": "x" } });
    const finishes = { "simulation.millwright.dev/finish-after-seconds": "0" };
    const done = aBarePod("done", node, { annotations: finishes, spec: { restartPolicy: "Never" } });
    const cache = { volumes: [{ name: "cache", emptyDir: {} }] };
    await fleet.fillNode(
      node,
      6,
      aDeployment("web", 2, { spec: cache }),
      aBarePod("alone", node),
      aDaemonSet("agent"),
      aDaemonSet("orphan"),
      mirror,
    );
    // Pods of a DaemonSet that was deleted with --cascade=orphan are not recreated.
    await fleet.kubectl(["delete", "daemonset", "orphan", "--cascade=orphan"]);
    await fleet.kubectl(["apply", "-f", "-"], JSON.stringify(done));
    await eventually(async () => {
      const pod = await fleet.kubectl(["get", "pod", "done", "-o", "jsonpath={.status.phase}"]);
      expect(pod).toBe("Succeeded");
    });
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine);
    expect(
      fleet
        .evicted()
        .map((name) => name.replace(/-.*/, ""))
        .toSorted(),
    ).toEqual(["alone", "orphan", "web", "web"]);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("respects the grace period of a pod until the drain timeout", async () => {
    const slow = { "simulation.millwright.dev/stop-after-seconds": "3600" };
    await begin("--machine-drain-timeout=8s");
    await fleet.fillNode(
      node,
      1,
      aDeployment("slow", 1, { annotations: slow, spec: { terminationGracePeriodSeconds: 3600 } }),
    );
    const begun = Date.now();
    await fleet.deleteMachine(machine);
    const [pod = ""] = await namesOn();
    await eventually(async () => {
      const grace = await fleet.kubectl(["get", "pod", pod, "-o", "jsonpath={.metadata.deletionGracePeriodSeconds}"]);
      expect(grace).toBe("3600");
    });
    await pause(begun + 6_000 - Date.now());
    expect(await namesOn()).toEqual([pod]);
    expect(await fleet.lastOperation(machine)).toContain(`default/${pod}`);
    fleet.invariants.allowForce();
    await fleet.untilMachineDeleted(machine);
    // The drain timeout counts from a timestamp in whole seconds.
    expect(Date.now() - begun).toBeGreaterThan(7_000);
    expect(fleet.evicted()).toEqual([pod]);
    await fleet.invariants.check();
  });

  it("names the finalizer that blocks a pod, evicts once, and continues when it is removed", async () => {
    await begin();
    await fleet.fillNode(node, 1, aBarePod("held", node, { finalizers: ["example.com/hold"] }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "finalizers example.com/hold", 60_000);
    expect(fleet.evicted()).toEqual(["held"]);
    const fixedAt = Date.now();
    await fleet.kubectl(["patch", "pod", "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
    await fleet.untilMachineDeleted(machine);
    const nodeDeletion = fleet
      .requests()
      .find(({ verb, resource, name }) => [verb, resource, name].join() === `delete,nodes,${node}`);
    expect((nodeDeletion?.time.getTime() ?? Number.NaN) - fixedAt).toBeLessThan(15_000);
    await fleet.invariants.check();
  });

  it("is not delayed by a pod that tolerates the cordon and returns, and evicts it at most twice", async () => {
    await begin();
    const returns = { nodeSelector: { "kubernetes.io/hostname": node }, tolerations: [{ operator: "Exists" }] };
    const stops = { "simulation.millwright.dev/stop-after-seconds": "2" };
    await fleet.fillNode(node, 1, aDeployment("boomerang", 1, { annotations: stops, spec: returns }));
    await fleet.deleteMachine(machine);
    await eventually(async () => expect(fleet.evicted()).not.toEqual([]));
    await eventually(async () => expect(fleet.callsOf("delete")).toBeGreaterThan(0), 20_000);
    // Timestamps have whole seconds: a pod created in the second of the cordon looks older.
    expect(fleet.evicted().length).toBeLessThanOrEqual(2);
    // The Node of the deleted VM does not wait for it, either.
    await fleet.untilMachineDeleted(machine, 30_000);
    expect(fleet.evicted().length).toBeLessThanOrEqual(2);
    await fleet.kubectl(["delete", "deployment", "boomerang"]);
    await fleet.invariants.check();
  });

  it("names a pod that another client binds to the cordoned node, and does not evict it again at once", async () => {
    await begin("--machine-drain-timeout=20s");
    await fleet.fillNode(node, 1, aDeployment("boomerang", 1, { spec: { nodeName: node } }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, /boomerang-\S+: created on the Node after the drain began/, 15_000);
    const evictions = fleet.evicted().length;
    await pause(5_000);
    expect(fleet.evicted()).toHaveLength(evictions);
    fleet.invariants.allowForce();
    await fleet.untilMachineDeleted(machine, 110_000);
    await fleet.kubectl(["delete", "deployment", "boomerang"]);
    await fleet.invariants.check();
  });

  it("backs off from an admission webhook that denies the eviction, and reports its message", async () => {
    await begin();
    await fleet.fillNode(node, 1, aDeployment("web", 1));
    const fault = fleet.server.faults.add({
      match: { verbs: ["create"], resources: ["pods/eviction"] },
      effect: { kind: "status", code: 500, reason: "InternalError" },
    });
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "failed to evict Pod");
    await pause(8_000);
    expect(fault.hits).toBeGreaterThanOrEqual(2);
    expect(fault.hits).toBeLessThanOrEqual(5);
    expect(await namesOn()).toHaveLength(1);
    expect((await fleet.eventsOf(machine)).filter((message) => message.includes("failed to evict"))).toHaveLength(1);
    fleet.server.faults.clear();
    await fleet.untilMachineDeleted(machine, 60_000);
    await fleet.invariants.check();
  });

  it("applies pod labels and the drain rules of the machine in their order", async () => {
    await begin();
    const rules = [
      { behavior: "Skip", selector: { matchLabels: { app: "monitor" } } },
      { behavior: "Drain", order: 5, selector: { matchLabels: { app: "last" } } },
    ];
    await fleet.kubectl([
      "annotate",
      "machine",
      machine,
      `machine.millwright.dev/drain-rules=${JSON.stringify(rules)}`,
    ]);
    const runs = { "simulation.millwright.dev/finish-after-seconds": "4" };
    await fleet.fillNode(
      node,
      5,
      aDeployment("web", 1),
      aDeployment("last", 1),
      aBarePod("monitor", node),
      aBarePod("kept", node, { labels: { [podDrain]: "skip" } }),
      aBarePod("job", node, {
        annotations: runs,
        labels: { [podDrain]: "wait-completed" },
        spec: { restartPolicy: "Never" },
      }),
    );
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted().map((name) => name.replace(/-.*/, ""))).toEqual(["web", "last"]);
    await fleet.invariants.check();
  });

  it("ends when its node is deleted during the drain, and the deletion continues", async () => {
    await begin();
    await fleet.fillNode(node, 1, aDeployment("web", 1));
    await fleet.workloads.forbidEvictions("web");
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "Budget default/web");
    // The kubelet, which would register the node again, stops with it.
    fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
    await fleet.kubectl(["delete", "node", node, "--wait=false"]);
    await fleet.kubectl(["patch", "node", node, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toEqual([]);
    await fleet.invariants.check();
  });

  it("regards no pod as deleted while the API server is unreachable, and resumes the drain", async () => {
    await begin();
    const slow = { "simulation.millwright.dev/stop-after-seconds": "3600" };
    await fleet.fillNode(
      node,
      1,
      aDeployment("slow", 1, { annotations: slow, spec: { terminationGracePeriodSeconds: 3600 } }),
    );
    await fleet.deleteMachine(machine);
    const [pod = ""] = await namesOn();
    await fleet.untilLastOperation(machine, `default/${pod}`);
    await eventually(async () => expect(fleet.evicted()).toEqual([pod]));
    const deletions = fleet.callsOf("delete");
    // Every read and watch of the controllers fails; other clients are not affected.
    const partition = fleet.server.faults.add({
      match: { userAgent: controllersAgent },
      effect: { kind: "partition" },
    });
    await pause(8_000);
    expect(fleet.callsOf("delete")).toBe(deletions);
    partition.remove();
    await pause(4_000);
    expect(await namesOn()).toEqual([pod]);
    expect(fleet.callsOf("delete")).toBe(deletions);
    expect(fleet.evicted()).toEqual([pod]);
    await fleet.kubectl(["delete", "pod", pod, "--grace-period=0", "--force"]);
    await fleet.untilMachineDeleted(machine);
    await fleet.invariants.check();
  });

  it("evicts a pod that was bound just before the cordon, although the cache of pods has not got it yet", async () => {
    await begin();
    // Each event of a pod reaches the controllers late.
    const late = fleet.server.faults.add({
      match: { verbs: ["watch"], resources: ["pods"], userAgent: controllersAgent },
      effect: { kind: "slow", ms: 6_000 },
    });
    const pod = aBarePod("late", node, { spec: { terminationGracePeriodSeconds: 1 } });
    await fleet.kubectl(["apply", "-f", "-"], JSON.stringify(pod));
    await fleet.deleteMachine(machine);
    await eventually(async () => expect(fleet.evicted()).toEqual(["late"]), 5_000);
    late.remove();
    await fleet.untilMachineDeleted(machine);
    await fleet.invariants.check();
  });

  it("keeps a cordon that a user set", async () => {
    await begin();
    await fleet.fillNode(node, 1, aDeployment("web", 1));
    const allow = await fleet.workloads.forbidEvictions("web");
    await fleet.kubectl(["cordon", node]);
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "Budget default/web");
    const patches = () =>
      fleet.requests().filter(({ verb, resource, name }) => verb === "patch" && resource === "nodes" && name === node);
    expect(await fleet.kubectl(["get", "node", node, "-o", "jsonpath={.spec.unschedulable}"])).toBe("true");
    const during = patches().length;
    await pause(1_000);
    expect(patches()).toHaveLength(during);
    await allow();
    await fleet.untilMachineDeleted(machine);
    await fleet.invariants.check();
  });
});
