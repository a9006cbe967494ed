import { type Machine, type MachinePhase, type NodeCondition, phases } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { aSnapshot, itsNode, lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { decideHealth } from "./decide-health.ts";

const healthy: readonly NodeCondition[] = [
  { type: "Ready", status: "True" },
  { type: "DiskPressure", status: "False" },
  { type: "MemoryPressure", status: "False" },
  { type: "NetworkUnavailable", status: "False" },
];
const sick: readonly NodeCondition[] = [{ type: "Ready", status: "Unknown" }];
const nodeWith = (conditions: readonly NodeCondition[]) => itsNode({ status: { conditions } });
const creating = lastly("Create", "Processing", "Creating machine on cloud provider");
const joinedBefore = { status: { conditions: healthy } };
const critical = {
  taints: [{ key: "node.gardener.cloud/critical-components-not-ready", effect: "NoSchedule" }],
};

describe("a healthy node", () => {
  it("makes a Pending machine Running, in words that tell how long it took", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    expect(decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow)).toMatchObject({
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

  it.each(["Unknown", "Failed", "InPlaceUpdateSuccessful"] as const)("brings a machine back from %s", (phase) => {
    const machine = aMachine(withVm, inPhase(phase), lastly("HealthCheck", "Processing", "x"));
    const { status, because } = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
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
    const { status } = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
    expect(status?.lastOperation).toMatchObject({ type: "Create", state: "Successful" });
  });

  it("counts as a return when the creation was told to be successful", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("Create", "Successful", "joined"));
    const { status } = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
    expect(status?.lastOperation?.type).toBe("HealthCheck");
  });

  const restOfPhases = (Object.keys(phases) as MachinePhase[]).filter(
    (phase) => !["CrashLoopBackOff", "Pending", "Unknown", "Failed", "InPlaceUpdateSuccessful"].includes(phase),
  );
  it.each(restOfPhases)("changes nothing about the phase %j", (phase) => {
    const machine = aMachine(withVm, inPhase(phase));
    const decision = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
    expect(decision.status?.currentStatus).toEqual(machine.status?.currentStatus);
    expect(decision.because).toEqual([]);
  });

  it("changes nothing about a phase of another version", () => {
    const machine = aMachine(withVm, { status: { currentStatus: { phase: "Hibernating" } } });
    expect(decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow).because).toEqual([]);
  });

  it("does not make a machine Running whose critical components are missing, until they are there", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const node = itsNode({ status: { conditions: healthy }, spec: critical });
    const decision = decideHealth(aSnapshot({ machine, node }), testNow);
    expect(decision.status).toMatchObject({ conditions: healthy, currentStatus: { phase: "Pending" } });
    expect(decision.wakeAfterMs).toBe(600_001);
  });

  it.each([
    ["another effect", { key: critical.taints[0]?.key ?? "", effect: "NoExecute" }],
    ["another key", { key: "a", effect: "NoSchedule" }],
  ])("minds no taint with %s", (_, taint) => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const node = itsNode({ status: { conditions: healthy }, spec: { taints: [taint] } });
    expect(decideHealth(aSnapshot({ machine, node }), testNow).because).toMatchObject([{ reason: "NodeJoined" }]);
  });

  it("brings an Unknown machine back although its critical components are missing", () => {
    const machine = aMachine(withVm, inPhase("Unknown"));
    const node = itsNode({ status: { conditions: healthy }, spec: critical });
    expect(decideHealth(aSnapshot({ machine, node }), testNow).status?.currentStatus?.phase).toBe("Running");
  });
});

describe("a node in trouble", () => {
  it("makes a Running machine Unknown, and names what is wrong without times", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const conditions = [
      ...healthy.filter(({ type }) => type !== "DiskPressure"),
      { type: "DiskPressure", status: "True" },
    ];
    const { status, because } = decideHealth(aSnapshot({ machine, node: nodeWith(conditions) }), testNow);
    const text = "Machine machine is unhealthy - changing its phase to Unknown. Node conditions: DiskPressure is True";
    expect(status).toMatchObject({
      conditions,
      currentStatus: { phase: "Unknown", lastUpdateTime: "2026-01-01T00:10:00Z" },
      lastOperation: { type: "HealthCheck", state: "Processing", description: text },
    });
    expect(because).toEqual([{ type: "Warning", reason: "NodeUnhealthy", message: text }]);
  });

  it("makes a Running machine Unknown whose node is gone", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const { status, because } = decideHealth(aSnapshot({ machine }), testNow);
    expect(status).toMatchObject({ conditions: healthy, currentStatus: { phase: "Unknown" } });
    expect(because).toMatchObject([
      { reason: "NodeMissing", message: expect.stringContaining("Node node of machine") },
    ]);
  });

  it("keeps the time since when it is Unknown while the trouble lasts", () => {
    const machine = aMachine(withVm, inPhase("Unknown", "2026-01-01T00:05:00Z"), { status: { conditions: sick } });
    const { status, because } = decideHealth(aSnapshot({ machine, node: nodeWith(sick) }), testNow);
    expect(status).toBe(machine.status);
    expect(because).toEqual([]);
  });

  test.each([
    ["Running without conditions: it never saw its node", aMachine(withVm, inPhase("Running"))],
    ["Unknown", aMachine(withVm, inPhase("Unknown"), joinedBefore)],
    ["Failed", aMachine(withVm, inPhase("Failed"), joinedBefore)],
  ])("does nothing when the node is missing and the machine is %s", (_, machine) => {
    expect(decideHealth(aSnapshot({ machine }), testNow)).toMatchObject({ actions: [], because: [] });
  });

  it("tells of a missing node by an empty name when the label is gone too", () => {
    const machine = aMachine(inPhase("Running"), joinedBefore);
    expect(decideHealth(aSnapshot({ machine }), testNow).because).toMatchObject([{ reason: "NodeMissing" }]);
  });

  it("minds the conditions that the machine lists, else those of the settings", () => {
    const conditions: NodeCondition[] = [...healthy, { type: "FrequentRestart", status: "True" }];
    const phaseWith = (nodeConditions?: string) => {
      const spec = nodeConditions === undefined ? {} : { nodeConditions };
      const machine = aMachine(withVm, inPhase("Running"), joinedBefore, { spec });
      return decideHealth(aSnapshot({ machine, node: nodeWith(conditions) }), testNow).status?.currentStatus?.phase;
    };
    expect(phaseWith()).toBe("Running");
    expect(phaseWith("KernelDeadlock,FrequentRestart")).toBe("Unknown");
  });

  it("counts a node without status as unhealthy", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    const node = { metadata: { name: "node" } };
    expect(decideHealth(aSnapshot({ machine, node }), testNow).status?.currentStatus?.phase).toBe("Unknown");
  });
});

describe("conditions", () => {
  const machine = aMachine(withVm, inPhase("Running"), joinedBefore);

  it("are copied when one of them changes its status", () => {
    const conditions: NodeCondition[] = [...healthy.slice(0, 2), { type: "MemoryPressure", status: "True" }];
    const { status } = decideHealth(aSnapshot({ machine, node: nodeWith(conditions) }), testNow);
    expect(status).toEqual({ ...machine.status, conditions });
  });

  it("are left alone by heartbeats", () => {
    const conditions = healthy.map((condition) => ({ ...condition, lastHeartbeatTime: "2026-01-01T00:09:00Z" }));
    expect(decideHealth(aSnapshot({ machine, node: nodeWith(conditions) }), testNow).status).toBe(machine.status);
  });
});

it("follows no node where there is no target cluster", () => {
  const machine = aMachine(withVm, inPhase("Available"));
  expect(decideHealth(aSnapshot({ machine, hasTarget: false }), testNow)).toEqual({ actions: [], because: [] });
});

it("makes a machine Running whose VM could not be initialized and joined all the same", () => {
  const machine = aMachine(withVm, inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "Provider error"));
  const { status, because } = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
  expect(status).toMatchObject({ currentStatus: { phase: "Running" }, lastOperation: { type: "Create" } });
  expect(because).toMatchObject([{ reason: "NodeJoined" }]);
});

// F4: the Go implementation sends an annotation with the status, which the API server drops.
describe("the join duration", () => {
  const statusOf = (machine: Machine, now = testNow) =>
    decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), now).status;

  it("comes with the status that makes the machine Running, and takes no write of its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const { actions, status } = decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow);
    expect([actions, status?.joinDuration]).toEqual([[], "10m0s"]);
  });

  it("stays as it is when the machine goes down and comes back", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "unhealthy"), {
      status: { joinDuration: "1m0s" },
    });
    expect(statusOf(machine)).toMatchObject({ currentStatus: { phase: "Running" }, joinDuration: "1m0s" });
  });

  it("is not made up for a machine that joined before this version looked after it", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "unhealthy"));
    expect(statusOf(machine)).not.toHaveProperty("joinDuration");
  });

  it("is never negative, whatever the clocks say", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    expect(statusOf(machine, new Date("2025-12-31T23:59:00Z"))?.joinDuration).toBe("0s");
  });
});

describe("the label of the node", () => {
  const misnamed = aMachine(withVm, inPhase("Pending"), creating, { metadata: { labels: { node: "expected" } } });

  it("is set right when the node with the machine's provider id has another name", () => {
    const { actions, status } = decideHealth(aSnapshot({ machine: misnamed, node: nodeWith(healthy) }), testNow);
    expect(actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: { uid: "uid-machine", labels: { node: "node" } } } },
    ]);
    expect(status?.currentStatus?.phase).toBe("Running");
  });

  it("is set right without waiting for health, and for this very machine only", () => {
    const nameless = { ...misnamed, metadata: { name: "machine" } };
    const { actions } = decideHealth(aSnapshot({ machine: nameless, node: nodeWith(sick) }), testNow);
    expect(actions).toEqual([{ kind: "PatchMachine", patch: { metadata: { labels: { node: "node" } } } }]);
  });

  it.each([
    ["the node has no provider id", { spec: {} }],
    ["it is right", { metadata: { name: "expected" } }],
  ])("is left alone when %s", (_, change) => {
    const node = { ...nodeWith(healthy), ...("spec" in change ? change : {}) };
    const other = { ...node, metadata: { ...node.metadata, ...("metadata" in change ? change.metadata : {}) } };
    expect(decideHealth(aSnapshot({ machine: misnamed, node: other }), testNow).actions).toEqual([]);
  });
});

// F35: the Go implementation takes any node of the right name.
describe("a node of the machine's name that is another VM's", () => {
  const foreignNode = itsNode({ spec: { providerID: "vm-0" } });
  const text =
    "Node node has provider id vm-0, machine machine has vm-1. The node is not taken for that of the machine";

  it("is named once by a machine that waits for its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const first = decideHealth(aSnapshot({ machine, foreignNode }), testNow);
    expect(first).toMatchObject({
      status: { lastOperation: { description: text, type: "Create", state: "Processing" } },
      because: [{ type: "Warning", reason: "NodeOfAnotherVM", message: text }],
    });
    const told = { ...machine, status: first.status ?? {} };
    expect(decideHealth(aSnapshot({ machine: told, foreignNode }), testNow)).toMatchObject({
      status: first.status,
      because: [],
    });
  });

  it("makes a Running machine Unknown, in its words", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    expect(decideHealth(aSnapshot({ machine, foreignNode }), testNow)).toMatchObject({
      status: { currentStatus: { phase: "Unknown" }, lastOperation: { description: text } },
      because: [{ reason: "NodeOfAnotherVM" }],
    });
  });

  it("does not matter once the machine has its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const { because } = decideHealth(aSnapshot({ machine, foreignNode, node: nodeWith(sick) }), testNow);
    expect(because).toEqual([]);
  });

  it("is named with what is known of it", () => {
    const bare = { metadata: { name: "node" } };
    const machine = aMachine(inPhase("Pending"), creating);
    const { because } = decideHealth(aSnapshot({ machine, foreignNode: bare }), testNow);
    expect(because[0]?.message).toBe(
      "Node node has provider id , machine machine has . The node is not taken for that of the machine",
    );
  });
});

describe("a node that somebody deletes", () => {
  const going = itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:09:00Z" } });

  it.each(["Pending", "Running", "Unknown", "Failed"] as const)("takes a machine in phase %s with it", (phase) => {
    const machine = aMachine(withVm, inPhase(phase), joinedBefore);
    expect(decideHealth(aSnapshot({ machine, node: going }), testNow)).toEqual({
      actions: [{ kind: "DeleteMachine", uid: "uid-machine" }],
      because: [
        { type: "Normal", reason: "NodeDeleted", message: "Node node is being deleted, and the machine with it" },
      ],
    });
  });

  it("names a machine without UID by none, which deletes nothing else", () => {
    const machine = { ...aMachine(withVm), metadata: { name: "machine" } };
    expect(decideHealth(aSnapshot({ machine, node: going }), testNow).actions).toEqual([
      { kind: "DeleteMachine", uid: "" },
    ]);
  });
});

describe("a node that goes up and down", () => {
  const flapping = { flaps: 3, steadySince: testNow.getTime(), healthyUntil: undefined };
  const machine = aMachine(withVm, inPhase("Unknown"), { status: { conditions: sick } });

  it("must hold still for a while before the machine is Running again, and nothing is written meanwhile", () => {
    const snapshot = aSnapshot({ machine, node: nodeWith(healthy), history: flapping });
    expect(decideHealth(snapshot, testNow)).toEqual({
      actions: [],
      status: machine.status,
      because: [],
      wakeAfterMs: 60_000,
    });
    expect(decideHealth(snapshot, later(59_999)).wakeAfterMs).toBe(1);
    expect(decideHealth(snapshot, later(60_000)).status?.currentStatus?.phase).toBe("Running");
  });

  it("holds for a Failed machine as well", () => {
    const broken = aMachine(machine, inPhase("Failed"));
    const decision = decideHealth(aSnapshot({ machine: broken, node: nodeWith(healthy), history: flapping }), testNow);
    expect(decision).toMatchObject({ status: broken.status, wakeAfterMs: 60_000 });
  });

  it("has its conditions copied when it holds still in bad health", () => {
    const worse: NodeCondition[] = [...sick, { type: "DiskPressure", status: "True" }];
    const snapshot = aSnapshot({ machine, node: nodeWith(worse), history: flapping });
    expect(decideHealth(snapshot, testNow)).toMatchObject({ status: machine.status, wakeAfterMs: 1 });
    expect(decideHealth(snapshot, later(60_000)).status?.conditions).toEqual(worse);
  });

  it("starts to hold still when it is first seen", () => {
    const history = { ...flapping, steadySince: undefined };
    const snapshot = aSnapshot({ machine, node: nodeWith(healthy), history });
    expect(decideHealth(snapshot, testNow).wakeAfterMs).toBe(60_000);
  });

  it("makes a Running machine Unknown at once", () => {
    const up = aMachine(withVm, inPhase("Running"), joinedBefore);
    const { status } = decideHealth(aSnapshot({ machine: up, node: nodeWith(sick), history: flapping }), testNow);
    expect(status).toMatchObject({ conditions: sick, currentStatus: { phase: "Unknown" } });
  });
});

it("takes a Failed machine back after an update only when that succeeded", () => {
  const machine = aMachine(withVm, inPhase("Failed"), lastly("InPlaceUpdate", "Failed", "x"), joinedBefore);
  const phaseWith = (labels: Readonly<Record<string, string>>) => {
    const node = itsNode({ metadata: { labels }, status: { conditions: healthy } });
    return decideHealth(aSnapshot({ machine, node }), testNow).status?.currentStatus?.phase;
  };
  expect(phaseWith({})).toBe("Failed");
  expect(phaseWith({ "node.machine.sapcloud.io/update-result": "failed" })).toBe("Failed");
  expect(phaseWith({ "node.machine.sapcloud.io/update-result": "successful" })).toBe("Running");
});
