import { annotationKeys, type MachinePhase, type NodeCondition, phases } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, inPhase } from "../../testing/builders.ts";
import { itsNode, lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { creating, decide, healthy, joinedBefore, nodeWith, sick } from "../../testing/node-health.ts";

const critical = {
  taints: [{ key: "node.gardener.cloud/critical-components-not-ready", effect: "NoSchedule" }],
};

describe("a healthy node", () => {
  it("makes a Pending machine Running, with a description that contains how long it took", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    expect(decide({ machine, node: nodeWith(healthy) })).toMatchObject({
      actions: [],
      status: {
        conditions: healthy,
        currentStatus: { phase: "Running", timeoutActive: false, lastUpdateTime: "2026-01-01T00:10:00Z" },
        lastOperation: {
          description: "Machine machine successfully joined the cluster in 10m0s",
          state: "Successful",
          type: "Create",
          lastUpdateTime: "2026-01-01T00:10:00Z",
        },
      },
      because: [{ type: "Normal", reason: "NodeJoined", message: "Node node is ready" }],
    });
  });

  it.each(["Unknown", "Failed", "InPlaceUpdateSuccessful"] as const)("recovers a machine from %s", (phase) => {
    const machine = aMachine(withVm, inPhase(phase), lastly("HealthCheck", "Processing", "x"));
    const { status, because } = decide({ machine, node: nodeWith(healthy) });
    expect(status).toMatchObject({
      currentStatus: { phase: "Running" },
      lastOperation: {
        type: "HealthCheck",
        state: "Successful",
        description: "Machine machine successfully re-joined the cluster",
      },
    });
    expect(because).toMatchObject([{ reason: "NodeHealthy" }]);
  });

  it("counts as a join when the machine failed before it ever joined", () => {
    const machine = aMachine(withVm, inPhase("Failed"), lastly("Create", "Failed", "too late"));
    const { status } = decide({ machine, node: nodeWith(healthy) });
    expect(status?.lastOperation).toMatchObject({ type: "Create", state: "Successful" });
  });

  it("counts as a recovery when the creation was successful", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("Create", "Successful", "joined"));
    const { status } = decide({ machine, node: nodeWith(healthy) });
    expect(status?.lastOperation?.type).toBe("HealthCheck");
  });

  const restOfPhases = (Object.keys(phases) as MachinePhase[]).filter(
    (phase) => !["CrashLoopBackOff", "Pending", "Unknown", "Failed", "InPlaceUpdateSuccessful"].includes(phase),
  );
  it.each(restOfPhases)("changes nothing about the phase %j", (phase) => {
    const machine = aMachine(withVm, inPhase(phase));
    const decision = decide({ machine, node: nodeWith(healthy) });
    expect(decision.status?.currentStatus).toEqual(machine.status?.currentStatus);
    expect(decision.because).toEqual([]);
  });

  it("changes nothing about a phase of another version", () => {
    const machine = aMachine(withVm, { status: { currentStatus: { phase: "Hibernating" } } });
    expect(decide({ machine, node: nodeWith(healthy) }).because).toEqual([]);
  });

  it("does not make a machine Running whose critical components are missing, until they exist", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const node = itsNode({ status: { conditions: healthy }, spec: critical });
    const decision = decide({ machine, node });
    expect(decision.status).toMatchObject({ conditions: healthy, currentStatus: { phase: "Pending" } });
    expect(decision.requeueAfterMs).toBe(600_001);
  });

  const startupTaints = [
    "readiness.k8s.io/cni",
    "startup-taint.cluster-autoscaler.kubernetes.io/gpu",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "example.com/listed",
  ];
  const listing = annotated({ [annotationKeys.startupTaints]: "example.com/listed" });
  const tainted = (key: string, effect = "NoSchedule") =>
    itsNode({
      status: { conditions: healthy },
      spec: {
        taints: [
          { key: "a", effect },
          { key, effect },
        ],
      },
    });

  it.each(startupTaints.flatMap((key) => [`${key}:NoSchedule`, `${key}:NoExecute`]))(
    "does not make a machine Running for the first time, from whichever phase, while its node has %s",
    (text) => {
      const [key = "", effect] = text.split(":");
      for (const phase of ["Pending", "CrashLoopBackOff", "Failed"] as const) {
        const machine = aMachine(withVm, inPhase(phase), listing, lastly("Create", "Failed", "no luck"));
        expect(phaseOf(decide({ machine, node: tainted(key, effect) })) || phase).toBe(phase);
        expect(phaseOf(decide({ machine, node: tainted("b", effect) }))).toBe("Running");
      }
    },
  );

  it("does not make an updated machine Running while its node has a startup taint, and never Failed because of it", () => {
    const machine = aMachine(withVm, inPhase("InPlaceUpdateSuccessful"), lastly("InPlaceUpdate", "Successful", "x"));
    for (const now of [testNow, later(86_400_000)])
      expect(decide({ machine, node: tainted("readiness.k8s.io/cni") }, now).status?.currentStatus?.phase).toBe(
        "InPlaceUpdateSuccessful",
      );
    expect(phaseOf(decide({ machine, node: nodeWith(healthy) }))).toBe("Running");
  });

  it.each(["Running", "Unknown"] as const)(
    "is and becomes Running from %s whatever startup taint comes later",
    (phase) => {
      const machine = aMachine(withVm, inPhase(phase), lastly("HealthCheck", "Processing", "x"));
      for (const now of [testNow, later(86_400_000)]) {
        const { status, because } = decide({ machine, node: tainted("readiness.k8s.io/cni") }, now);
        expect(status?.currentStatus?.phase).toBe("Running");
        expect(because.filter(({ type }) => type === "Warning")).toEqual([]);
      }
    },
  );

  it("waits for a startup taint of the template that its node is to get", () => {
    const taint = { key: "readiness.k8s.io/cni", value: "pending", effect: "NoSchedule" };
    const machine = aMachine(withVm, inPhase("Pending"), creating, {
      spec: { nodeTemplate: { spec: { taints: [taint] } } },
    });
    expect(phaseOf(decide({ machine, node: nodeWith(healthy) }))).toBe("Pending");
    const recorded = itsNode({
      metadata: {
        annotations: { [annotationKeys.lastAppliedNodeTemplate]: JSON.stringify({ spec: { taints: [taint] } }) },
      },
      status: { conditions: healthy },
    });
    expect(phaseOf(decide({ machine, node: recorded }))).toBe("Running");
  });

  it.each([
    ["an effect that keeps no pods off", { key: critical.taints[0]?.key ?? "", effect: "PreferNoSchedule" }],
    ["another key", { key: "a", effect: "NoSchedule" }],
  ])("minds no taint with %s", (_, taint) => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const node = itsNode({ status: { conditions: healthy }, spec: { taints: [taint] } });
    expect(decide({ machine, node }).because).toMatchObject([{ reason: "NodeJoined" }]);
  });

  it("recovers an Unknown machine although its critical components are missing", () => {
    const machine = aMachine(withVm, inPhase("Unknown"));
    const node = itsNode({ status: { conditions: healthy }, spec: critical });
    expect(decide({ machine, node }).status?.currentStatus?.phase).toBe("Running");
  });
});

/** The phase after a decision; empty when it stays. */
function phaseOf({ status }: ReturnType<typeof decide>): string {
  return status?.currentStatus?.phase ?? "";
}

describe("an unhealthy node", () => {
  it("makes a Running machine Unknown, and names what is wrong without times", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const conditions = [
      ...healthy.filter(({ type }) => type !== "DiskPressure"),
      { type: "DiskPressure", status: "True" },
    ];
    const { status, because } = decide({ machine, node: nodeWith(conditions) });
    const text = "Machine machine is unhealthy - changing its phase to Unknown. Node conditions: DiskPressure is True";
    expect(status).toMatchObject({
      conditions,
      currentStatus: { phase: "Unknown", lastUpdateTime: "2026-01-01T00:10:00Z" },
      lastOperation: { type: "HealthCheck", state: "Processing", description: text },
    });
    expect(because).toEqual([{ type: "Warning", reason: "NodeUnhealthy", message: text }]);
  });

  it("makes a Running machine Unknown whose node does not exist", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const { status, because } = decide({ machine });
    expect(status).toMatchObject({ conditions: healthy, currentStatus: { phase: "Unknown" } });
    expect(because).toMatchObject([
      { reason: "NodeMissing", message: expect.stringContaining("Node node of machine") },
    ]);
  });

  it("keeps the time since when it is Unknown while it is unhealthy", () => {
    const machine = aMachine(withVm, inPhase("Unknown", "2026-01-01T00:05:00Z"), { status: { conditions: sick } });
    const { status, because } = decide({ machine, node: nodeWith(sick) });
    expect(status).toBe(machine.status);
    expect(because).toEqual([]);
  });

  test.each([
    ["Running without conditions: it never saw its node", aMachine(withVm, inPhase("Running"))],
    ["Unknown", aMachine(withVm, inPhase("Unknown"), joinedBefore)],
    ["Failed", aMachine(withVm, inPhase("Failed"), joinedBefore)],
  ])("does nothing when the node is missing and the machine is %s", (_, machine) => {
    expect(decide({ machine })).toMatchObject({ actions: [], because: [] });
  });

  it("reports a missing node by an empty name when the label is missing too", () => {
    const machine = aMachine(inPhase("Running"), joinedBefore);
    expect(decide({ machine }).because).toMatchObject([{ reason: "NodeMissing" }]);
  });

  it("minds the conditions that the machine lists, else those of the settings", () => {
    const conditions: NodeCondition[] = [...healthy, { type: "FrequentRestart", status: "True" }];
    const phaseWith = (nodeConditions?: string) => {
      const spec = nodeConditions === undefined ? {} : { nodeConditions };
      const machine = aMachine(withVm, inPhase("Running"), joinedBefore, { spec });
      return decide({ machine, node: nodeWith(conditions) }).status?.currentStatus?.phase;
    };
    expect(phaseWith()).toBe("Running");
    expect(phaseWith("KernelDeadlock,FrequentRestart")).toBe("Unknown");
  });

  it("counts a node without status as unhealthy", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const node = { metadata: { name: "node" } };
    expect(decide({ machine, node }).status?.currentStatus?.phase).toBe("Unknown");
  });
});

describe("conditions", () => {
  const machine = aMachine(withVm, inPhase("Running"), joinedBefore);

  it("are copied when one of them changes its status", () => {
    const conditions: NodeCondition[] = [...healthy.slice(0, 2), { type: "MemoryPressure", status: "True" }];
    const { status } = decide({ machine, node: nodeWith(conditions) });
    expect(status).toEqual({ ...machine.status, conditions });
  });

  it("are left alone by heartbeats", () => {
    const conditions = healthy.map((condition) => ({ ...condition, lastHeartbeatTime: "2026-01-01T00:09:00Z" }));
    expect(decide({ machine, node: nodeWith(conditions) }).status).toBe(machine.status);
  });
});

it("follows no node where there is no target cluster", () => {
  const machine = aMachine(withVm, inPhase("Available"));
  expect(decide({ machine, hasTarget: false })).toEqual({ actions: [], because: [] });
});

it("makes a machine Running whose VM could not be initialized but joined", () => {
  const machine = aMachine(withVm, inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "Provider error"));
  const { status, because } = decide({ machine, node: nodeWith(healthy) });
  expect(status).toMatchObject({ currentStatus: { phase: "Running" }, lastOperation: { type: "Create" } });
  expect(because).toMatchObject([{ reason: "NodeJoined" }]);
});

describe("a node that is being deleted", () => {
  const going = itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:09:00Z" } });

  it.each(["Pending", "Running", "Unknown", "Failed"] as const)("takes a machine in phase %s with it", (phase) => {
    const machine = aMachine(withVm, inPhase(phase), joinedBefore);
    expect(decide({ machine, node: going })).toEqual({
      actions: [{ kind: "DeleteMachine", uid: "uid-machine" }],
      because: [
        { type: "Normal", reason: "NodeDeleted", message: "Node node is being deleted; deleting the machine as well" },
      ],
    });
  });

  it("does not take a protected machine with it, which is reported once", () => {
    const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore, isKept);
    const { actions, because } = decide({ machine, node: going });
    expect(actions).toEqual([]);
    const message =
      "Node node is being deleted, and Machine machine is protected. The machine is kept. To delete it, remove annotation machine.millwright.dev/deletion-protection from Machine machine";
    expect(because).toEqual([{ type: "Warning", reason: "DeletionPaused", message }]);
    expect(decide({ machine, node: going, reported: new Map([["DeletionPaused", message]]) }).because).toEqual([]);
  });

  it("names a machine without UID by none, which deletes nothing else", () => {
    const machine = { ...aMachine(withVm), metadata: { name: "machine" } };
    expect(decide({ machine, node: going }).actions).toEqual([{ kind: "DeleteMachine", uid: "" }]);
  });
});

describe("a flapping node", () => {
  const flapping = { flaps: 3, steadySince: testNow.getTime(), healthyUntil: undefined };
  const machine = aMachine(withVm, inPhase("Unknown"), { status: { conditions: sick } });

  it("must hold still for a while before the machine is Running again, and nothing is written meanwhile", () => {
    const view = { machine, node: nodeWith(healthy), history: flapping };
    expect(decide(view)).toEqual({
      actions: [],
      status: machine.status,
      because: [],
      requeueAfterMs: 60_000,
    });
    expect(decide(view, later(59_999)).requeueAfterMs).toBe(1);
    expect(decide(view, later(60_000)).status?.currentStatus?.phase).toBe("Running");
  });

  it("holds for a Failed machine as well", () => {
    const broken = aMachine(machine, inPhase("Failed"));
    const decision = decide({ machine: broken, node: nodeWith(healthy), history: flapping });
    expect(decision).toMatchObject({ status: broken.status, requeueAfterMs: 60_000 });
  });

  it("has its conditions copied when it holds still in bad health", () => {
    const worse: NodeCondition[] = [...sick, { type: "DiskPressure", status: "True" }];
    const view = { machine, node: nodeWith(worse), history: flapping };
    expect(decide(view)).toMatchObject({ status: machine.status, requeueAfterMs: 1 });
    expect(decide(view, later(60_000)).status?.conditions).toEqual(worse);
  });

  it("starts to hold still when it is first seen", () => {
    const history = { ...flapping, steadySince: undefined };
    const view = { machine, node: nodeWith(healthy), history };
    expect(decide(view).requeueAfterMs).toBe(60_000);
  });

  it("makes a Running machine Unknown at once", () => {
    const up = aMachine(withVm, inPhase("Running"), joinedBefore);
    const { status } = decide({ machine: up, node: nodeWith(sick), history: flapping });
    expect(status).toMatchObject({ conditions: sick, currentStatus: { phase: "Unknown" } });
  });
});

it("takes a Failed machine back after an update only when that succeeded", () => {
  const machine = aMachine(withVm, inPhase("Failed"), lastly("InPlaceUpdate", "Failed", "x"), joinedBefore);
  const phaseWith = (labels: Readonly<Record<string, string>>) => {
    const node = itsNode({ metadata: { labels }, status: { conditions: healthy } });
    return decide({ machine, node }).status?.currentStatus?.phase;
  };
  expect(phaseWith({})).toBe("Failed");
  expect(phaseWith({ "node.machine.sapcloud.io/update-result": "failed" })).toBe("Failed");
  expect(phaseWith({ "node.machine.sapcloud.io/update-result": "successful" })).toBe("Running");
});
