import type { Machine, MachineStatus } from "@millwright/core/machine-api";
import type * as core from "@millwright/core/machine-api";
import { equalJson } from "@millwright/kube";
import { afterAll, describe, expect, it, vi } from "vitest";
import { machineConditions } from "../conditions/machine/machine-conditions.ts";
import { drainDelays, isPast } from "../conditions/machine/deleting.ts";
import { ownerRemediated } from "../conditions/machine/remediation.ts";
import { budgetHold } from "../model/held-deletion.ts";
import { isDeletionHeld } from "../model/held-deletion.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import type { FailedOperation, OperationKind } from "../model/operation.ts";
import { isUnhealthy } from "../model/remediation-budget.ts";
import { noRemediationHold } from "../remediation/remediation-view.ts";
import { aMachine, beingDeleted, type Change, inPhase } from "../testing/builders.ts";
import { withIntent } from "../testing/creations.ts";
import { aPod, cordoned, going, marker, terminatingCondition } from "../testing/deletions.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  lastly,
  later,
  machineAfter,
  pending,
  succeeded,
  testNow,
  waiting,
  withVm,
} from "../testing/snapshots.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

const words = { areOthers: false };

/** Each letter becomes another one: no sentence is left. The markers of the stages are MCM's, and stay. */
vi.doMock("@millwright/core/machine-api", async (original) => {
  const actual = await original<typeof core>();
  const reword = (text: string, stage: core.DeletionStage | undefined): string => {
    if (!words.areOthers) return text;
    const end = stage === undefined ? "" : actual.markerOf(stage);
    const sentence = text.slice(0, text.length - end.length);
    return sentence.replaceAll(/[a-z]/gi, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) ^ 1)) + end;
  };
  const replaced: Pick<typeof core, "isReported" | "newOperation"> = {
    isReported: ({ lastOperation }, events, stage) =>
      lastOperation?.description === reword(actual.renderOperation(events, stage), stage),
    newOperation: (update, time) => {
      const operation = actual.newOperation(update, time);
      return { ...operation, description: reword(operation.description ?? "", update.stage) };
    },
  };
  return { ...actual, ...replaced };
});

// Files share a worker: the modules of others may be loaded already, without the other words.
vi.resetModules();
const { decideMachine } = await import("./decide.ts");
afterAll(() => {
  vi.doUnmock("@millwright/core/machine-api");
  vi.resetModules();
});

const MINUTE = 60_000;

/** What a machine finds at a time. */
interface Moment {
  readonly afterMs: number;
  readonly change?: Partial<MachineSnapshot>;
}

interface Life {
  readonly machine: Machine;
  readonly moments: readonly Moment[];
}

/** MCM's CustomResourceDefinition has no details. */
function pruned({ status, ...machine }: Machine): Machine {
  if (status?.lastOperation === undefined) return { ...machine, ...(status === undefined ? {} : { status }) };
  const { details: _, ...lastOperation } = status.lastOperation;
  return { ...machine, status: { ...status, lastOperation } };
}

const withoutTexts = (status: MachineStatus | undefined) => ({
  phase: status?.currentStatus,
  operation: [status?.lastOperation?.type, status?.lastOperation?.state, status?.lastOperation?.errorCode],
  at: status?.lastOperation?.lastUpdateTime,
  history: status?.history?.map(({ operation, outcome, time }) => [operation, outcome, time]),
});

/** What is decided in a life, and what its conditions are: everything but texts. Each moment comes twice, so that a loop shows. */
function live({ machine: first, moments }: Life, { isPruned = false } = {}): readonly object[] {
  let machine = first;
  return moments
    .flatMap((moment) => [moment, { ...moment, afterMs: moment.afterMs + 1 }])
    .map(({ afterMs, change = {} }) => {
      const now = later(afterMs);
      const snapshot = aSnapshot({ machine, ...change });
      const { actions, because, requeueAfterMs, isStatusBrief, status } = decideMachine(snapshot, now);
      const isWritten = status !== undefined && !equalJson(status, machine.status);
      const next = machineAfter(snapshot, { actions, because, ...(status === undefined ? {} : { status }) });
      machine = isPruned ? pruned(next) : next;
      const facts = {
        machine,
        hasTarget: true,
        isTargetReachable: true,
        node: snapshot.node ?? ("unread" as const),
        hasClass: true,
        settings: defaultMachineSettings,
      };
      return {
        actions,
        events: because.map(({ type, reason }) => [type, reason]),
        requeueAfterMs,
        isStatusBrief,
        isWritten,
        status: withoutTexts(machine.status),
        conditions: machineConditions(facts, now).map(({ type, status: value, reason }) => [type, value, reason]),
        isDrained: isPast(facts, "Drain"),
        delays: drainDelays(facts, now),
        marks: [isDeletionHeld(machine), isUnhealthy(machine)],
        hold: ownerRemediated(facts, now)?.message,
      };
    });
}

function inOtherWords<T>(run: () => T): T {
  words.areOthers = true;
  try {
    return run();
  } finally {
    words.areOthers = false;
  }
}

const id = (n: number): string => n.toString(16).padStart(16, "0");

/** A call that fails every ten seconds with another request id, each failure seen before and after it is acknowledged. */
const failures = (
  kind: OperationKind,
  count: number,
  change: Partial<MachineSnapshot> = {},
  code: FailedOperation["code"] = "Internal",
): readonly Moment[] =>
  Array.from({ length: count }, (_, index): Moment[] => {
    const afterMs = index * 10_000;
    const call = failed(kind, code, {
      failures: index + 1,
      message: `no luck (request ${id(index)})`,
      endedAt: later(afterMs).getTime(),
    });
    const acknowledged = { ...call, isAcknowledged: true };
    return [
      { afterMs, change: { ...change, operation: call } },
      { afterMs: afterMs + 100, change: { ...change, operation: acknowledged } },
    ];
  }).flat();

const created = succeeded("create", { providerId: "vm-1", nodeName: "node" });
const unreachable = cordoned({
  status: {
    conditions: [
      { type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:00:00Z" },
      terminatingCondition,
    ],
  },
});
const pods = [aPod("db-0")];
const stuckPods = [
  aPod("a", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] } }),
  aPod("b", { metadata: { deletionTimestamp: "2026-01-01T00:09:59Z" } }),
];
const hold = budgetHold(
  {
    why: "share",
    cause: "machine",
    count: 20,
    scope: { kind: "Namespace", name: "default" },
    limit: 10,
    total: 20,
    loss: 0,
  },
  { kind: "Machine", name: "machine" },
);
const joining: readonly Change<Machine>[] = [withVm, inPhase("Pending"), lastly("Create", "Processing", "x")];
const terminating = (text: string): Machine =>
  going(inPhase("Terminating", "2026-01-01T00:00:00Z"), lastly("Delete", "Processing", text));
const remediation = (change: Partial<MachineSnapshot["remediation"]>): Partial<MachineSnapshot> => ({
  remediation: { ...noRemediationHold, group: "deployment d", ...change },
});
const outage = { zone: "a", until: later(60 * MINUTE).getTime() };
const lost = { connectivity: { isLost: true, regainedAt: undefined } };
const unhealthy = itsNode({ status: { conditions: [{ type: "Ready", status: "False" }] } });

const lives: Readonly<Record<string, Life>> = {
  "whose creation fails and then succeeds": {
    machine: aMachine(withIntent),
    moments: [
      ...failures("create", 9, {}, "ResourceExhausted"),
      { afterMs: 100_000 },
      { afterMs: 110_000, change: { operation: created } },
    ],
  },
  "that waits for its class": {
    machine: aMachine(withIntent),
    moments: [
      { afterMs: 0, change: { operation: waiting("create", { code: "ResourceExhausted", message: "no quota" }) } },
      { afterMs: 5_000, change: { operation: waiting("create", { code: "ResourceExhausted", message: "no more" }) } },
      ...failures("create", 3, {}, "ResourceExhausted"),
    ],
  },
  "whose creation is pending, also after a restart": {
    machine: aMachine(withIntent),
    moments: [
      { afterMs: 0, change: { operation: pending("create", `wiping disks (request ${id(1)})`) } },
      { afterMs: 10_000, change: { operation: pending("create", `wiping disks (request ${id(2)})`) } },
      { afterMs: 20_000, change: { operation: pending("create", "booting") } },
      { afterMs: 30_000 },
    ],
  },
  "whose initialization fails, also after a restart": {
    machine: aMachine(withIntent, withVm),
    moments: [...failures("initialize", 3), { afterMs: 40_000 }],
  },
  "whose join is on hold": {
    machine: aMachine(...joining),
    moments: [
      { afterMs: 0, change: remediation(lost) },
      { afterMs: MINUTE, change: remediation({}) },
      { afterMs: 11 * MINUTE, change: remediation({ outage }) },
      { afterMs: 12 * MINUTE, change: remediation({ limit: 0 }) },
      {
        afterMs: 13 * MINUTE,
        change: remediation({ connectivity: { isLost: false, regainedAt: later(13 * MINUTE).getTime() } }),
      },
      { afterMs: 40 * MINUTE, change: remediation({}) },
    ],
  },
  "whose remediation is on hold": {
    machine: aMachine(withVm, inPhase("Running"), lastly("Create", "Successful", "x")),
    moments: [
      { afterMs: 0, change: { node: unhealthy } },
      { afterMs: 11 * MINUTE, change: { node: unhealthy, ...remediation({ outage }) } },
      { afterMs: 12 * MINUTE, change: { node: unhealthy, ...remediation({ limit: 0 }) } },
      { afterMs: 13 * MINUTE, change: { node: unhealthy, ...remediation({}) } },
    ],
  },
  "whose Node disappears": {
    machine: aMachine(withVm, inPhase("Running"), lastly("Create", "Successful", "x"), {
      status: { conditions: [{ type: "Ready", status: "True" }] },
    }),
    moments: [{ afterMs: 0 }, { afterMs: MINUTE }],
  },
  "whose drain is blocked": {
    machine: terminating(marker.drain),
    moments: [
      { afterMs: 0, change: { node: cordoned(), pods: stuckPods } },
      { afterMs: 2_000, change: { node: cordoned(), pods: stuckPods.slice(0, 1) } },
      { afterMs: 30_000, change: { node: cordoned(), pods: stuckPods.slice(0, 1) } },
      { afterMs: 6 * MINUTE, change: { node: cordoned(), pods: [] } },
    ],
  },
  "whose drain is skipped until the Node recovers": {
    machine: terminating(marker.drain),
    moments: [
      { afterMs: 0, change: { node: unreachable, pods } },
      ...failures("delete", 3, { node: unreachable, pods }, "Unavailable"),
      { afterMs: 40_000, change: { node: cordoned(), pods } },
      { afterMs: 50_000, change: { node: cordoned(), pods: [] } },
      { afterMs: 60_000, change: { node: cordoned(), pods: [], operation: succeeded("delete") } },
    ],
  },
  "whose deletion is retried": {
    machine: going(),
    moments: [
      { afterMs: 0, change: { node: cordoned() } },
      ...failures("delete", 9, { node: cordoned() }, "Unavailable"),
      { afterMs: 100_000, change: { node: cordoned(), operation: pending("delete", `detaching (request ${id(1)}).`) } },
      { afterMs: 110_000, change: { node: cordoned(), operation: pending("delete", `detaching (request ${id(2)}).`) } },
      { afterMs: 120_000, change: { node: cordoned(), pods, operation: succeeded("delete") } },
      // A restart: only the status knows that the VM is deleted.
      { afterMs: 125_000, change: { node: cordoned(), pods } },
      { afterMs: 200_000, change: { node: cordoned(), pods } },
    ],
  },
  "whose VM is looked up in vain": {
    machine: aMachine({ spec: { providerID: "vm-1" } }, beingDeleted(), inPhase("Pending")),
    moments: [...failures("find", 5), { afterMs: 60_000 }],
  },
  "whose deletion is held": {
    machine: going(),
    moments: [
      { afterMs: 0, change: { node: cordoned(), hold } },
      { afterMs: 10_000, change: { node: cordoned(), hold } },
      { afterMs: 20_000, change: { node: cordoned() } },
    ],
  },
};

describe.each(Object.entries(lives))("a machine %s", (_, life) => {
  const expected = live(life);

  it("is treated the same when all texts are worded differently", () => {
    expect(inOtherWords(() => live(life))).toEqual(expected);
  });

  it("is treated the same when the API server prunes the details, and its status is written no more often", () => {
    expect(live(life, { isPruned: true })).toEqual(expected);
  });

  it("depends on what was reported: with neither details nor the known texts it is treated differently", () => {
    expect(inOtherWords(() => live(life, { isPruned: true }))).not.toEqual(expected);
  });
});

it("is about descriptions that are really worded differently", () => {
  const snapshot = aSnapshot({ machine: aMachine(withIntent), operation: failed("create", "Internal") });
  const textOf = () => decideMachine(snapshot, testNow).status?.lastOperation?.description ?? "";
  expect(textOf()).toMatch(/^Cloud provider message/);
  expect(inOtherWords(textOf)).not.toContain("Cloud");
});
