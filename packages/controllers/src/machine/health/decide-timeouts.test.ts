import { describe, expect, it } from "vitest";
import { aMachine, annotated, inPhase, named } from "../../testing/builders.ts";
import { itsNode, lastly, later, testNow, withVm, type SnapshotChange } from "../../testing/snapshots.ts";
import { type MachineSnapshot } from "../state/snapshot.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import { creating, decide, healthy, nodeWith, sick } from "../../testing/node-health.ts";
import { noRemediationHold } from "../../remediation/remediation-view.ts";

const unknown = aMachine(
  withVm,
  inPhase("Unknown"),
  lastly("HealthCheck", "Processing", "Machine machine is unhealthy"),
  { status: { conditions: sick } },
);
/** Unhealthy since `inPhase` has it, and just over the health timeout. */
const overdue = later(1);
const phaseAfter = (change: SnapshotChange, now: Date) => decide(change, now).status?.currentStatus?.phase;
const unmetPrecondition = (change: Partial<MachineSnapshot["remediation"]>) => ({
  remediation: { ...noRemediationHold, group: "deployment pool", ...change },
});

describe("a timeout that has passed while no API server has responded for a moment", () => {
  const unproven = unmetPrecondition({ connectivity: { isLost: false, regainedAt: undefined, isUnproven: true } });

  it.each([
    ["of the creation", aMachine(withVm, inPhase("Pending"), creating), later(600_001), "Pending"],
    ["of the health", unknown, overdue, "Unknown"],
  ])("%s fails no machine until one responds", (_, machine, now, phase) => {
    const decision = decide({ machine, ...unproven }, now);
    expect(decision).toMatchObject({ actions: [], because: [], requeueAfterMs: 1_000 });
    expect(decision.status?.currentStatus?.phase).toBe(phase);
    expect(phaseAfter({ machine }, now)).toBe("Failed");
  });
});

describe("a node that does not join", () => {
  const machine = aMachine(withVm, inPhase("Pending"), creating);

  it("is waited for until the creation timeout", () => {
    expect(decide({ machine })).toMatchObject({ because: [], requeueAfterMs: 600_001 });
    expect(decide({ machine }, later(600_000))).toMatchObject({ because: [], requeueAfterMs: 1 });
  });

  it("makes the machine Failed a moment later", () => {
    const text = "Machine machine failed to join the cluster in 20m0s minutes.";
    expect(decide({ machine }, later(600_001))).toMatchObject({
      status: {
        currentStatus: { phase: "Failed", timeoutActive: false },
        lastOperation: { type: "Create", state: "Failed", description: text },
      },
      because: [{ type: "Warning", reason: "JoinTimedOut", message: text }],
    });
  });

  it("is waited for as long as the API server is unreachable, and for the whole timeout from then on", () => {
    const late = later(900_000);
    const unseen = decide(
      { machine, ...unmetPrecondition({ connectivity: { isLost: true, regainedAt: undefined } }) },
      late,
    );
    const text =
      "Cannot determine whether the node of machine machine joined: the API server of the machines or of the nodes is unreachable";
    expect(unseen.status).toMatchObject({
      currentStatus: { phase: "Pending" },
      lastOperation: { type: "Create", state: "Processing", description: text },
    });
    expect(unseen.because).toEqual([]);
    const back = unmetPrecondition({ connectivity: { isLost: false, regainedAt: late.getTime() } });
    const reported = aMachine(machine, unseen.status === undefined ? {} : { status: unseen.status });
    const seen = decide({ machine: reported, ...back }, late);
    expect(seen).toMatchObject({
      status: {
        lastOperation: {
          type: "Create",
          description: "Created VM on cloud provider; waiting for its Node to join the cluster",
        },
      },
      requeueAfterMs: 1_200_001,
    });
    expect(phaseAfter({ machine, ...back }, later(900_000 + 1_200_001))).toBe("Failed");
  });

  it.each<[string, Partial<Parameters<typeof itsNode>[0]>, string]>([
    [
      "a reason",
      { status: { conditions: [{ type: "Ready", status: "False", reason: "KubeletNotReady" }] } },
      "ready: KubeletNotReady",
    ],
    ["no reason", { status: { conditions: sick } }, "ready: Ready is Unknown"],
    [
      "another bad condition",
      {
        status: {
          conditions: [
            { type: "Ready", status: "True" },
            { type: "DiskPressure", status: "True" },
          ],
        },
      },
      "healthy: DiskPressure is True",
    ],
  ])("names what its node lacks after it joined: %s", (_, change, awaited) => {
    const { status } = decide({ machine, node: itsNode(change) });
    const text = `Created VM on cloud provider; waiting for its Node to become ${awaited}`;
    expect(status?.lastOperation?.description).toBe(text);
  });

  it("does not name a node that has joined without a report, nor replaces a failure", () => {
    expect(decide({ machine, node: itsNode({ status: {} }) }).status?.lastOperation).toEqual(
      machine.status?.lastOperation,
    );
    const failed = aMachine(machine, lastly("Create", "Failed", "Failed to update machine m: 403"));
    const { status } = decide({ machine: failed, node: nodeWith(sick) });
    expect(status?.lastOperation).toEqual(failed.status?.lastOperation);
  });

  it("names the startup taint that kept it from joining", () => {
    const taints = [{ key: "readiness.k8s.io/cni", value: "pending", effect: "NoSchedule" }];
    const node = itsNode({ status: { conditions: healthy }, spec: { taints } });
    expect(decide({ machine, node }, later(600_001)).status).toMatchObject({
      currentStatus: { phase: "Failed" },
      lastOperation: {
        description:
          "Machine machine failed to join the cluster in 20m0s minutes. It still waits for startup taint readiness.k8s.io/cni=pending:NoSchedule to be removed from Node node",
      },
    });
  });

  it("names what its Node lacked", () => {
    const conditions = [{ type: "Ready", status: "False", reason: "KubeletNotReady" }];
    const { status } = decide({ machine, node: itsNode({ status: { conditions } }) }, later(600_001));
    expect(status?.lastOperation?.description).toBe(
      "Machine machine failed to join the cluster in 20m0s minutes. It still waits for its Node to become ready: KubeletNotReady",
    );
  });

  it("keeps type and code of the last operation", () => {
    const reported = aMachine(machine, {
      status: { lastOperation: { type: "HealthCheck", state: "Failed", description: "x", errorCode: "Internal" } },
    });
    const { status } = decide({ machine: reported }, later(600_001));
    expect(status?.lastOperation).toMatchObject({ type: "HealthCheck", errorCode: "Internal" });
    const silent = aMachine(withVm, inPhase("Pending"));
    const next = decide({ machine: silent }, later(600_001)).status;
    expect(next?.lastOperation?.type).toBe("Create");
  });

  it("uses the annotation before the spec", () => {
    const hurried = aMachine(
      machine,
      { spec: { creationTimeout: "1h" } },
      annotated({ "node.machine.sapcloud.io/effective-creation-timeout": "9m59s" }),
    );
    expect(decide({ machine: hurried }).status?.currentStatus?.phase).toBe("Failed");
  });

  it("does not count for a node that is there and not healthy yet, before the timeout", () => {
    const decision = decide({ machine, node: nodeWith(sick) });
    expect(decision.status).toMatchObject({ conditions: sick, currentStatus: { phase: "Pending" } });
  });
});

describe("an Unknown machine", () => {
  it.each([
    ["unhealthy", nodeWith(sick), "Ready is Unknown"],
    ["missing", undefined, "the node is missing"],
  ])("is Failed when its node was %s for longer than the health timeout", (_, node, conditions) => {
    const view = { machine: unknown, node, ...unmetPrecondition({}) };
    expect(decide(view)).toMatchObject({ status: unknown.status, requeueAfterMs: 1 });
    const text = `Machine machine health checks failing for 10m0s - changing its phase to Failed. Node conditions: ${conditions}`;
    expect(decide(view, overdue)).toMatchObject({
      actions: [{ kind: "StartRemediation", uid: "uid-machine", group: "deployment pool" }],
      status: {
        conditions: sick,
        currentStatus: { phase: "Failed", timeoutActive: false, lastUpdateTime: "2026-01-01T00:10:00Z" },
        lastOperation: {
          type: "HealthCheck",
          state: "Failed",
          description: text,
          lastUpdateTime: "2026-01-01T00:10:00Z",
        },
      },
      because: [{ type: "Warning", reason: "HealthTimedOut", message: text }],
    });
  });

  it("uses its own timeout", () => {
    const patient = aMachine(unknown, { spec: { healthTimeout: "1h" } });
    expect(decide({ machine: patient }, overdue)).toMatchObject({ requeueAfterMs: 3_000_000 });
    const hurried = aMachine(unknown, { spec: { healthTimeout: "5m" } });
    expect(phaseAfter({ machine: hurried }, testNow)).toBe("Failed");
  });

  it("stays Unknown where the health timeout is disabled", () => {
    const machine = aMachine(unknown, { spec: { disableHealthTimeout: true } });
    expect(decide({ machine }, later(86_400_000))).toEqual({
      actions: [],
      because: [],
      status: machine.status,
    });
  });

  // Preservation and other writes of the status do not move the clock of the phase.
  it("keeps its clock while other parts of its status are written", () => {
    const machine = aMachine(unknown, {
      status: {
        currentStatus: { preserveExpiryTime: "2026-01-05T00:00:00Z" },
        lastOperation: { lastUpdateTime: "2026-01-01T00:09:59Z" },
      },
    });
    expect(phaseAfter({ machine }, overdue)).toBe("Failed");
  });

  it("starts its clock where there is none", () => {
    const machine = aMachine(unknown, { status: { currentStatus: { lastUpdateTime: null } } });
    const { status, because } = decide({ machine });
    expect(status?.currentStatus).toEqual({ phase: "Unknown", lastUpdateTime: "2026-01-01T00:10:00Z" });
    expect(because).toEqual([]);
    const bare = { ...machine, status: { currentStatus: { phase: "Unknown" } } };
    expect(decide({ machine: bare }).status?.currentStatus).toMatchObject({
      lastUpdateTime: "2026-01-01T00:10:00Z",
    });
  });

  it("counts from when its node was healthy last", () => {
    const history = { flaps: 4, steadySince: testNow.getTime(), healthyUntil: testNow.getTime() };
    const view = { machine: unknown, node: nodeWith(sick), history };
    expect(decide(view, overdue)).toMatchObject({ status: unknown.status, requeueAfterMs: 119_999 });
    expect(decide(view, later(130_000))).toMatchObject({ status: unknown.status, requeueAfterMs: 470_001 });
    expect(phaseAfter(view, later(600_001))).toBe("Failed");
  });

  it("is not Failed while its node is healthy and has to hold still", () => {
    const history = { flaps: 9, steadySince: testNow.getTime(), healthyUntil: undefined };
    const view = { machine: unknown, node: nodeWith(healthy), history };
    expect(decide(view, later(500_000))).toMatchObject({ status: unknown.status, requeueAfterMs: 100_000 });
  });

  it("has a type of operation where nothing was written before", () => {
    const machine = aMachine(withVm, inPhase("Unknown"));
    expect(decide({ machine }, overdue).status?.lastOperation).toMatchObject({
      type: "HealthCheck",
      state: "Failed",
    });
  });
});

describe("a machine in an update in place", () => {
  const failedUpdate = aMachine(withVm, inPhase("InPlaceUpdateFailed"), lastly("InPlaceUpdate", "Failed", "no luck"));

  it.each([sick, healthy])(
    "that failed is Failed after the health timeout, with its type of operation kept",
    (conditions) => {
      const view = { machine: failedUpdate, node: nodeWith([conditions].flat()) };
      expect(phaseAfter(view, testNow)).toBe("InPlaceUpdateFailed");
      expect(decide(view, overdue).status).toMatchObject({
        currentStatus: { phase: "Failed" },
        lastOperation: { type: "InPlaceUpdate", state: "Failed" },
      });
    },
  );

  it.each([
    ["what its agent reported", "UpdateFailed", "no space left", "InPlaceUpdate is UpdateFailed (no space left)"],
    ["that nothing was reported", undefined, undefined, "InPlaceUpdate is not reported"],
  ])("that failed names %s when it is Failed", (_, reason, failure, text) => {
    const annotations = failure === undefined ? {} : { "node.machine.sapcloud.io/update-failed-reason": failure };
    const conditions =
      reason === undefined ? healthy : [healthy, { type: "InPlaceUpdate", status: "True", reason }].flat();
    const node = { ...nodeWith([conditions].flat()), metadata: { name: "node", annotations } };
    expect(decide({ machine: failedUpdate, node }, overdue).status?.lastOperation?.description).toBe(
      `Machine machine health checks failing for 10m0s - changing its phase to Failed. Node conditions: ${text}`,
    );
  });

  it("that failed stays so where the health timeout is disabled", () => {
    const machine = aMachine(failedUpdate, { spec: { disableHealthTimeout: true } });
    expect(phaseAfter({ machine, node: nodeWith(sick) }, overdue)).toBe("InPlaceUpdateFailed");
  });

  it("that failed is left to its agent's late report of success", () => {
    const node = itsNode({ metadata: { labels: { "node.machine.sapcloud.io/update-result": "successful" } } });
    expect(phaseAfter({ machine: failedUpdate, node }, overdue)).toBe("InPlaceUpdateFailed");
  });

  // In MCM the machine stays as it is for ever.
  it("that succeeded is Failed when the node does not recover within the health timeout", () => {
    const machine = aMachine(withVm, inPhase("InPlaceUpdateSuccessful"), lastly("InPlaceUpdate", "Successful", "done"));
    expect(phaseAfter({ machine, node: nodeWith(sick) }, testNow)).toBe("InPlaceUpdateSuccessful");
    expect(phaseAfter({ machine, node: nodeWith(sick) }, overdue)).toBe("Failed");
    expect(phaseAfter({ machine }, overdue)).toBe("Failed");
    expect(phaseAfter({ machine, node: nodeWith(healthy) }, overdue)).toBe("Running");
  });
});

describe("a machine that may not be replaced yet", () => {
  const others = [aMachine(named("other"), inPhase("Failed"))];

  it.each([
    ["another one of its group is being replaced", { peers: others }, "RemediationDeferred", "Normal", undefined],
    [
      "the annotation of its deployment cannot be read",
      { peers: others, note: "it is odd" },
      "RemediationDeferred",
      "Normal",
      undefined,
    ],
    [
      "many machines are Unknown",
      { outage: { zone: undefined, until: later(5_000).getTime() } },
      "RemediationPaused",
      "Warning",
      5_000,
    ],
    [
      "many machines of its zone are Unknown",
      { outage: { zone: "a", until: later(0).getTime() } },
      "RemediationPaused",
      "Warning",
      1,
    ],
    [
      "the API server is away",
      { connectivity: { isLost: true, regainedAt: undefined } },
      "RemediationPaused",
      "Warning",
      undefined,
    ],
  ])("reports once, and stays Unknown, when %s", (_, remediation, reason, type, requeueAfterMs) => {
    const view = { machine: unknown, ...unmetPrecondition(remediation) };
    const { status = {}, because, actions, requeueAfterMs: enqueue } = decide(view, overdue);
    expect(actions).toEqual([]);
    expect(status.currentStatus).toEqual(unknown.status?.currentStatus);
    expect(status.lastOperation).toMatchObject({ type: "HealthCheck", state: "Processing" });
    const message = status.lastOperation?.description ?? "";
    expect(message).toMatch(/^Machine machine health checks failing for 10m0s\. (Waiting|Remediation paused)/);
    expect(because).toEqual([{ type, reason, message }]);
    expect(enqueue).toBe(requeueAfterMs);
    const reported = { ...unknown, status };
    expect(decide({ ...view, machine: reported }, overdue)).toMatchObject({ status, because: [], actions: [] });
    expect(phaseAfter({ ...view, machine: reported, remediation: noRemediationHold }, overdue)).toBe("Failed");
  });

  it("reports the most severe cause", () => {
    const outage = { zone: undefined, until: later(5_000).getTime() };
    const connectivity = { isLost: true, regainedAt: undefined };
    const textWith = (remediation: Partial<MachineSnapshot["remediation"]>) =>
      decide({ machine: unknown, ...unmetPrecondition(remediation) }, overdue).status?.lastOperation?.description;
    expect(textWith({ peers: others, outage, connectivity })).toContain("is unreachable");
    expect(textWith({ peers: others, outage })).toContain("outage");
  });

  it("is replaced beside one without quota when it never joined, and is kept when it has served", () => {
    const lastOperation = {
      description: "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [quota]",
      state: "Failed",
      type: "Create",
    } as const;
    const withoutQuota = aMachine(named("other"), {
      status: { currentStatus: { phase: "CrashLoopBackOff" }, lastOperation },
    });
    const beside = unmetPrecondition({ peers: [withoutQuota] });
    expect(phaseAfter({ machine: aMachine(withVm, inPhase("Pending")), ...beside }, later(1_300_000))).toBe("Failed");
    expect(phaseAfter({ machine: unknown, ...beside }, overdue)).toBe("Unknown");
  });

  it("releases the remediation budget when it is not replaced", () => {
    const machine = unknown;
    const connectivity = { isLost: true, regainedAt: undefined };
    const held = { machine, ...unmetPrecondition({ isInFlight: true, connectivity }) };
    expect(decide(held, overdue).actions).toEqual([{ kind: "CancelRemediation", uid: "uid-machine" }]);
    const back = { machine, node: nodeWith(healthy), ...unmetPrecondition({ isInFlight: true }) };
    expect(decide(back, overdue).actions).toEqual([{ kind: "CancelRemediation", uid: "uid-machine" }]);
    const nameless = { ...machine, metadata: { name: "machine" } };
    expect(decide({ ...held, machine: nameless }, overdue).actions).toEqual([{ kind: "CancelRemediation", uid: "" }]);
  });

  it("uses its in-flight remediation when its first write was lost", () => {
    const again = { machine: unknown, ...unmetPrecondition({ isInFlight: true }) };
    expect(decide(again, overdue).actions).toEqual([
      { kind: "StartRemediation", uid: "uid-machine", group: "deployment pool" },
    ]);
    const nameless = { ...unknown, metadata: { name: "machine" } };
    expect(decide({ ...again, machine: nameless }, overdue).actions).toMatchObject([{ uid: "" }]);
  });
});

describe("a machine whose API server was away", () => {
  const regainedAt = later(-1_500).getTime();
  const view = { machine: unknown, ...unmetPrecondition({ connectivity: { isLost: false, regainedAt } }) };
  const text = "Health timeout of machine machine was reset because the API server was unreachable";

  it("restarts its health timeout, once, and reports it", () => {
    const { status = {}, because } = decide(view, later(3_600_000));
    expect(status).toMatchObject({
      currentStatus: { phase: "Unknown", lastUpdateTime: "2026-01-01T01:10:00Z" },
      lastOperation: { description: text, type: "HealthCheck", state: "Processing" },
    });
    expect(because).toEqual([{ type: "Normal", reason: "HealthTimeoutReset", message: text }]);
    const reported = { ...unknown, status };
    expect(decide({ ...view, machine: reported }, later(3_600_000))).toEqual({
      actions: [],
      because: [],
      status,
      requeueAfterMs: 600_001,
    });
  });

  it("does not restart it twice within the second in which connectivity was restored", () => {
    const { status = {} } = decide(view, later(-1_500));
    expect(status.currentStatus?.lastUpdateTime).toBe("2026-01-01T00:09:58Z");
    expect(decide({ ...view, machine: { ...unknown, status } }, later(-1_499)).because).toEqual([]);
  });

  it("leaves the timeout of a machine that became Unknown afterwards", () => {
    const later2 = { ...view, machine: aMachine(unknown, inPhase("Unknown", "2026-01-01T00:10:00Z")) };
    expect(decide(later2).because).toEqual([]);
  });

  it("waits while another cache has no connectivity yet", () => {
    const connectivity = { isLost: true, regainedAt };
    const { status } = decide({ machine: unknown, ...unmetPrecondition({ connectivity }) }, overdue);
    expect(status?.lastOperation?.description).toContain("is unreachable");
  });
});

it("has MCM's health timeout", () => {
  expect(defaultMachineSettings.healthTimeoutMs).toBe(600_000);
});
