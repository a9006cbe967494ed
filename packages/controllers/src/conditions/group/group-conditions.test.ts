import { describe, expect, it } from "vitest";
import { beingDeleted, inPhase } from "../../testing/builders.ts";
import { aJudgedMachine, withStatus } from "../../testing/judged-machines.ts";
import { lastly } from "../../testing/snapshots.ts";
import type { ConditionState } from "@millwright/kube";
import { deleting } from "./deleting.ts";
import { groupConditions, untilGroupChanges } from "./group-conditions.ts";
import type { JudgedMachine } from "./judged-machine.ts";
import { machinesReady } from "./machines-ready.ts";
import { machinesUpToDate } from "./machines-up-to-date.ts";
import { remediating } from "./remediating.ts";
import { rollingOut } from "./rolling-out.ts";
import { scalingDown } from "./scaling-down.ts";
import { scalingUp } from "./scaling-up.ts";
import { unreadable } from "./unreadable.ts";

const now = new Date("2026-01-01T00:30:00Z");
const ago = (ms: number): string => new Date(now.getTime() - ms).toISOString();
const MINUTE = 60_000;
/** `True Reason message`. */
const conditionText = ({ status, reason, message }: ConditionState): string => `${status} ${reason} ${message}`.trim();

const current = (name: string) => aJudgedMachine(name, { upToDate: withStatus("UpToDate", "True") });
const outdated = (name: string, message: string) =>
  aJudgedMachine(name, { upToDate: withStatus("UpToDate", "False", message) });
const unknown = (name: string) => aJudgedMachine(name, { upToDate: withStatus("UpToDate", "Unknown") });
const created = (name: string, ms: number) => aJudgedMachine(name, {}, { metadata: { creationTimestamp: ago(ms) } });
/** A machine in its drain: deleted and drained for so long, with these words of the drain. */
const going = (name: string, deletedMs: number, drainedMs = 0, words = ""): JudgedMachine =>
  aJudgedMachine(
    name,
    {},
    {
      ...beingDeleted(ago(deletedMs)),
      status: {
        ...inPhase("Terminating", ago(drainedMs)).status,
        ...lastly("Delete", "Processing", `${words} Initiate node drain`).status,
      },
    },
  );
const pdb = "cannot evict pod as it would violate the pod's disruption budget.";

describe("RollingOut", () => {
  it("is False when no machine is known to be outdated", () => {
    expect(conditionText(rollingOut([current("a"), unknown("b"), created("c", 0)], "MachineClass", [], []))).toBe(
      "False NotRollingOut",
    );
    expect(conditionText(rollingOut([], "MachineClass", [], ["Rollout is paused"]))).toBe("False NotRollingOut");
  });

  it("is True while an old set may still create machines", () => {
    expect(conditionText(rollingOut([current("a")], "MachineClass", ["w-1", "w-2"], ["Rollout is paused"]))).toBe(
      "True RollingOut Rolling out 0 not up-to-date replicas\n* MachineSet w-1, w-2 may still create machines",
    );
    expect(conditionText(rollingOut([outdated("a", "* x")], "MachineClass", ["w-1"], []))).toBe(
      "True RollingOut Rolling out 1 not up-to-date replicas\n* x",
    );
  });

  it("counts, and lists every reason once: the class first, the others by alphabet, what blocks it last", () => {
    const machines = [
      current("a"),
      unknown("b"),
      outdated("c", "* Template labels are not up-to-date\n* Template annotations are not up-to-date"),
      outdated("d", "* MachineClass w-2, w-3 required\n* Template labels are not up-to-date"),
      outdated("e", "* MachineClass w-1, w-3 required"),
    ];
    expect(conditionText(rollingOut(machines, "MachineClass", [], ["Rollout is paused"]))).toBe(
      [
        "True RollingOut Rolling out 3 not up-to-date replicas",
        "* MachineClass w-1, w-3 required",
        "* MachineClass w-2, w-3 required",
        "* Template annotations are not up-to-date",
        "* Template labels are not up-to-date",
        "* Rollout is paused",
      ].join("\n"),
    );
  });

  it("has no lines for machines without a message", () => {
    expect(conditionText(rollingOut([outdated("a", "")], "MachineClass", [], []))).toBe(
      "True RollingOut Rolling out 1 not up-to-date replicas",
    );
  });
});

describe("MachinesUpToDate", () => {
  it.each<[string, readonly JudgedMachine[], string]>([
    ["no machines", [], "True NoReplicas"],
    ["a machine created ten seconds ago, in an unknown state", [created("m", 10_000)], "True NoReplicas"],
    [
      "one of eleven seconds",
      [created("m", 11_000)],
      "Unknown UpToDateUnknown * Machine m: Condition UpToDate not yet reported",
    ],
    ["machines that are", [current("a"), current("b")], "True UpToDate"],
    [
      "some that are, some that are not, and some in an unknown state",
      [current("a"), current("b"), outdated("d", "x"), outdated("c", "x"), created("e", MINUTE), created("f", MINUTE)],
      "False NotUpToDate * Machines c, d: x\n* Machines e, f: Condition UpToDate not yet reported",
    ],
  ])("of %s", (_, machines, expected) => {
    expect(conditionText(machinesUpToDate(machines, now))).toBe(expected);
  });
});

describe("MachinesReady", () => {
  const ready = (name: string, ...rest: Parameters<typeof withStatus> extends [string, ...infer R] ? R : never) =>
    aJudgedMachine(name, { ready: withStatus("Ready", ...rest) });

  it("lists issues by name, then what is unknown, and nothing that is well", () => {
    const machines = [
      ready("d", "False", "* Deleting: Machine deletion in progress, stage: DrainingNode"),
      ready("c", "Unknown", "* NodeHealthy: x"),
      ready("b", "False", "* InfrastructureReady: Waiting for the VM to be created"),
      ready("a", "True"),
    ];
    expect(conditionText(machinesReady(machines))).toBe(
      [
        "False NotReady * Machine b:",
        "  * InfrastructureReady: Waiting for the VM to be created",
        "* Machine d:",
        "  * Deleting: Machine deletion in progress, stage: DrainingNode",
        "* Machine c:",
        "  * NodeHealthy: x",
      ].join("\n"),
    );
  });

  it("is True when all are, and when there are none", () => {
    expect(conditionText(machinesReady([ready("a", "True")]))).toBe("True Ready");
    expect(conditionText(machinesReady([]))).toBe("True NoReplicas");
    expect(conditionText(machinesReady([ready("a", "Unknown")]))).toBe("Unknown ReadyUnknown * Machine a:");
  });
});

describe("ScalingUp", () => {
  const missing = "MachineClass c does not exist";

  it.each<[string, number, number, readonly string[], string, string]>([
    ["enough", 3, 3, [], "False NotScalingUp", "False NotScalingUp"],
    [
      "too few",
      1,
      3,
      [],
      "True ScalingUp Scaling up from 1 to 3 replicas",
      "True ScalingUp Scaling up from 1 to 3 replicas",
    ],
    [
      "too few and a block",
      1,
      3,
      [missing],
      `True ScalingUp Scaling up from 1 to 3 replicas is blocked because ${missing}`,
      `True ScalingUp Scaling up from 1 to 3 replicas is blocked because:\n* ${missing}`,
    ],
    [
      "too few and two blocks",
      1,
      3,
      [missing, "x"],
      `True ScalingUp Scaling up from 1 to 3 replicas is blocked because ${missing} and x`,
      `True ScalingUp Scaling up from 1 to 3 replicas is blocked because:\n* ${missing}\n* x`,
    ],
    [
      "enough and two blocks",
      3,
      3,
      [missing, "x"],
      `False NotScalingUp Scaling up would be blocked because ${missing} and x`,
      `False NotScalingUp Scaling up would be blocked because ${missing}`,
    ],
  ])("with %s", (_, have, desired, blocks, ofDeployment, ofSet) => {
    expect(conditionText(scalingUp({ current: have, desired }, blocks, "sentence"))).toBe(ofDeployment);
    expect(conditionText(scalingUp({ current: have, desired }, blocks, "list"))).toBe(ofSet);
  });
});

describe("ScalingDown", () => {
  const down = (machines: readonly JudgedMachine[]) =>
    conditionText(scalingDown({ current: 3, desired: 1 }, machines, [], now));
  const plain = "True ScalingDown Scaling down from 3 to 1 replicas";

  it("is False with as many machines as there should be, or fewer", () => {
    expect(conditionText(scalingDown({ current: 3, desired: 3 }, [going("m", 16 * MINUTE)], [], now))).toBe(
      "False NotScalingDown",
    );
    expect(conditionText(scalingDown({ current: 2, desired: 3 }, [], [], now))).toBe("False NotScalingDown");
  });

  it.each<[string, readonly JudgedMachine[], string]>([
    ["nothing of a machine that goes for 15 minutes", [going("m", 15 * MINUTE)], ""],
    ["one that goes for longer", [going("m", 16 * MINUTE)], "\n* Machine m is in deletion since more than 15m"],
    ["nothing of the causes of a drain of 5 minutes", [going("m", 6 * MINUTE, 5 * MINUTE, pdb)], ""],
    [
      "what delays a longer drain",
      [going("m", 16 * MINUTE, 6 * MINUTE, pdb)],
      "\n* Machine m is in deletion since more than 15m, delay likely due to PodDisruptionBudgets",
    ],
    [
      "three names of five",
      ["a", "b", "c", "d", "e"].map((name) => going(name, 16 * MINUTE)),
      "\n* Machines a, b, c, ... (2 more) are in deletion since more than 15m",
    ],
  ])("reports %s", (_, machines, more) => {
    expect(down(machines)).toBe(`${plain}${more}`);
  });
});

describe("Remediating", () => {
  const broken = (name: string) => aJudgedMachine(name, { isUnhealthy: true });
  const remedied = (name: string, message: string) =>
    aJudgedMachine(name, { isUnhealthy: true, remediation: withStatus("OwnerRemediated", "False", message) });

  it.each<[string, readonly JudgedMachine[], string]>([
    ["sound machines", [current("a")], "False NotRemediating"],
    [
      "one that waits for its end",
      [remedied("m", "Waiting for remediation"), broken("k")],
      "True Remediating * Machine m: Waiting for remediation",
    ],
    [
      "one that is deleted",
      [remedied("m", "Machine is deleting")],
      "True Remediating * Machine m: Machine is deleting",
    ],
    [
      "one that is kept",
      [broken("m")],
      "False NotRemediating Machine m is not healthy (not to be remediated by MachineDeployment/MachineSet)",
    ],
    [
      "two that are kept",
      [broken("b"), broken("a")],
      "False NotRemediating Machines a, b are not healthy (not to be remediated by MachineDeployment/MachineSet)",
    ],
  ])("of %s", (_, machines, expected) => {
    expect(conditionText(remediating(machines))).toBe(expected);
  });
});

describe("Deleting", () => {
  it.each<[string, boolean, readonly JudgedMachine[], number, string]>([
    ["nothing that is deleted", false, [current("a")], 1, "False NotDeleting"],
    ["one machine", true, [current("a")], 1, "True Deleting Deleting 1 Machine"],
    ["two machines", true, [current("a"), current("b")], 1, "True Deleting Deleting 2 Machines"],
    ["no machines and a set", true, [], 1, "True Deleting Deleting 1 MachineSets"],
    ["nothing that is left", true, [], 0, "True Deleting Deletion completed"],
    [
      "a machine that is slow",
      true,
      [going("m", 16 * MINUTE)],
      1,
      "True Deleting Deleting 1 Machine\n* Machine m is in deletion since more than 15m",
    ],
  ])("of %s", (_, isDeleting, machines, sets, expected) => {
    expect(conditionText(deleting(isDeleting, machines, sets, now))).toBe(expected);
  });
});

describe("the requeue of conditions", () => {
  const requeue = (...machines: readonly JudgedMachine[]) => untilGroupChanges(machines, now);
  const failed = (preserveExpiryTime: string) =>
    aJudgedMachine(
      "f",
      { upToDate: withStatus("UpToDate", "True") },
      { status: { currentStatus: { phase: "Failed", lastUpdateTime: ago(0), preserveExpiryTime } } },
    );
  const known = (machine: JudgedMachine): JudgedMachine => ({ ...machine, upToDate: withStatus("UpToDate", "True") });

  it.each<[string, number | undefined, readonly JudgedMachine[]]>([
    ["none for healthy machines", undefined, [current("a")]],
    ["none without machines", undefined, []],
    ["ten seconds after the creation of a machine in an unknown state", 8_000, [created("m", 3_000)]],
    ["never for one that is older", undefined, [created("m", MINUTE)]],
    ["15 minutes after a deletion", MINUTE + 1000, [known(going("m", 14 * MINUTE, 6 * MINUTE))]],
    ["5 minutes into a drain", MINUTE + 1000, [known(going("m", 4 * MINUTE, 4 * MINUTE))]],
    [
      "the health timeout after a node was lost",
      2 * MINUTE + 1000,
      [known(aJudgedMachine("u", {}, inPhase("Unknown", ago(8 * MINUTE))))],
    ],
    ["the end of a preservation", MINUTE + 1000, [failed(ago(-MINUTE))]],
    ["the first of several", 8_000, [created("m", 3_000), known(going("n", 14 * MINUTE, 6 * MINUTE))]],
  ])("%s", (_, expected, machines) => {
    expect(requeue(...machines)).toBe(expected);
  });

  it("falls on whole seconds of the clock", () => {
    const late = new Date(now.getTime() + 400);
    expect(untilGroupChanges([created("m", 3_000)], late)).toBe(7_600);
  });
});

it("reports Unknown for a spec that cannot be read", () => {
  expect(conditionText(unreadable("RollingOut"))).toBe("Unknown InspectionFailed The spec cannot be read");
});

it("speaks of one generation in all conditions, where the object has one", () => {
  const state: ConditionState = { type: "Paused", status: "False", reason: "NotPaused", message: "" };
  expect(groupConditions([state], [], 7, now)).toEqual({ states: [{ ...state, observedGeneration: 7 }] });
  expect(groupConditions([state], [created("m", 3_000)], undefined, now)).toEqual({
    states: [state],
    requeueAfterMs: 8_000,
  });
});
