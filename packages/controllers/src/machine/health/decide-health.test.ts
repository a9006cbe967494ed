import { type MachinePhase, type NodeCondition, phases } from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, inPhase } from "../../testing/builders.ts";
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
    expect(decideHealth(aSnapshot({ machine, node: nodeWith(healthy) }), testNow)).toEqual({
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
    (phase) => !["Pending", "Unknown", "Failed", "InPlaceUpdateSuccessful"].includes(phase),
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

describe("a node that does not join", () => {
  const machine = aMachine(withVm, inPhase("Pending"), creating);

  it("is waited for until the creation timeout", () => {
    expect(decideHealth(aSnapshot({ machine }), testNow)).toMatchObject({ because: [], wakeAfterMs: 600_001 });
    expect(decideHealth(aSnapshot({ machine }), later(600_000))).toMatchObject({ because: [], wakeAfterMs: 1 });
  });

  it("makes the machine Failed a moment later", () => {
    const text = "Machine machine failed to join the cluster in 20m0s minutes.";
    expect(decideHealth(aSnapshot({ machine }), later(600_001))).toMatchObject({
      status: {
        currentStatus: { phase: "Failed", timeoutActive: false },
        lastOperation: { type: "Create", state: "Failed", description: text },
      },
      because: [{ type: "Warning", reason: "JoinTimedOut", message: text }],
    });
  });

  it("keeps type and code of the last operation", () => {
    const told = aMachine(machine, {
      status: { lastOperation: { type: "HealthCheck", state: "Failed", description: "x", errorCode: "Internal" } },
    });
    const { status } = decideHealth(aSnapshot({ machine: told }), later(600_001));
    expect(status?.lastOperation).toMatchObject({ type: "HealthCheck", errorCode: "Internal" });
    const silent = aMachine(withVm, inPhase("Pending"));
    const next = decideHealth(aSnapshot({ machine: silent }), later(600_001)).status;
    expect(next?.lastOperation?.type).toBe("Create");
  });

  it("goes by the annotation before the spec", () => {
    const hurried = aMachine(
      machine,
      { spec: { creationTimeout: "1h" } },
      annotated({ "node.machine.sapcloud.io/effective-creation-timeout": "9m59s" }),
    );
    expect(decideHealth(aSnapshot({ machine: hurried }), testNow).status?.currentStatus?.phase).toBe("Failed");
  });

  it("does not count for a node that is there and not healthy yet, before the timeout", () => {
    const decision = decideHealth(aSnapshot({ machine, node: nodeWith(sick) }), testNow);
    expect(decision.status).toMatchObject({ conditions: sick, currentStatus: { phase: "Pending" } });
  });
});

it("follows no node where there is no target cluster", () => {
  const machine = aMachine(withVm, inPhase("Available"));
  expect(decideHealth(aSnapshot({ machine, hasTarget: false }), testNow)).toEqual({ actions: [], because: [] });
});
