import { readFileSync } from "node:fs";
import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withDeploymentConditions } from "../machine-deployment/cluster-api-conditions.ts";
import { decideMachineDeployment } from "../machine-deployment/decide.ts";
import { slowDeletionText } from "./machine/deleting.ts";
import type { MachineFacts } from "./machine/facts.ts";
import { machineConditions, msUntilIssuesChange } from "./machine/machine-conditions.ts";
import { isAvailable, isInService } from "../model/phase.ts";
import { withSetConditions } from "../machine-set/cluster-api-conditions.ts";
import { changesReplicas, decideMachineSet } from "../machine-set/decide.ts";
import {
  buildDeployment,
  buildSet,
  type BuiltState,
  type OwnerState,
  ownerStates,
  progressStates,
  stateNow as now,
  pendingSetName,
  theFreeze,
  theBlock,
  theHold,
  theProblem,
  creationFailure,
} from "../testing/condition-states.ts";
import { filled, holds, readTransitionTables, type TransitionRow, type Values } from "../testing/transition-tables.ts";
import {
  type Condition,
  findCondition,
  aggregateConditions,
  type DerivedCondition,
  shortenNames,
} from "@millwright/kube";
import { factsOf } from "./owner/condition-inputs.ts";

const page = readFileSync(new URL("../../../../docs/project/conditions.md", import.meta.url), "utf8");
const tables = readTransitionTables(page);

type Owner = "MachineDeployments" | "MachineSets";

/** What a pass over a state came to. */
interface Outcome {
  readonly values: Values;
  readonly actions: readonly string[];
  /** As they were stored. */
  readonly before: readonly Condition[];
  /** Absent when no status is written. */
  readonly conditions: readonly Condition[] | undefined;
  /** Infinity when only a change of an object brings another pass. */
  readonly requeueAfterMs: number;
}

/** A machine with its conditions in Cluster API's sense. */
interface Judged {
  readonly name: string;
  readonly facts: MachineFacts;
  readonly conditions: readonly DerivedCondition[];
}

const judge = ({ members, inputs, deployment }: BuiltState<unknown>): readonly Judged[] =>
  members.map(({ machine, set }) => {
    const facts = factsOf(machine, inputs, { set, deployment });
    return { name: machine.metadata.name, facts, conditions: machineConditions(facts, now) };
  });

const messageOf = (type: string, machines: readonly Judged[]): string =>
  aggregateConditions(
    machines.map(({ name, conditions }) => ({ kind: "Machine", name, condition: findCondition(conditions, type) })),
    { sourceType: type, type, reasons: { issue: "", unknown: "", info: "" }, emptyReason: "" },
  ).message;

/** The first of some times to come, milliseconds from now; Infinity for none. */
const first = (times: readonly (number | undefined)[]): number =>
  Math.min(...times.map((ms) => (ms === undefined || ms <= 0 ? Infinity : ms)));

/** With an invalid spec nothing is scaled. */
const specBlocks = ({ isInvalid, isDeleting }: OwnerState): readonly string[] =>
  isInvalid && !isDeleting ? ["the spec is not valid: see SpecValid"] : [];

/** Values that deployments and sets have alike. */
function sharedValues(state: OwnerState, built: BuiltState<unknown>): Values {
  const machines = judge(built);
  const statusOf = ({ conditions }: Judged, type: string) => findCondition(conditions, type)?.status;
  const isRemedied = (machine: Judged): boolean => statusOf(machine, "OwnerRemediated") === "False";
  const isBroken = (machine: Judged): boolean =>
    statusOf(machine, "HealthCheckSucceeded") === "False" && !isRemedied(machine);
  const ageMs = ({ facts }: Judged): number =>
    now.getTime() - Date.parse(facts.machine.metadata.creationTimestamp ?? "");
  const isCounted = (machine: Judged): boolean =>
    statusOf(machine, "UpToDate") !== undefined || ageMs(machine) > 10_000;
  const goneMs = ({ facts }: Judged): number =>
    now.getTime() - Date.parse(facts.machine.metadata.deletionTimestamp ?? now.toISOString());
  const counted = machines.filter(isCounted);
  const outdated = machines.filter((machine) => statusOf(machine, "UpToDate") === "False");
  const broken = machines.filter(isBroken);
  const facts = machines.map((machine) => machine.facts);
  const slowText = slowDeletionText(facts, now) ?? "";
  const waits = [slowText, ...specBlocks(state)].filter((line) => line !== "");
  return {
    current: machines.length,
    desired: state.isDeleting ? 0 : state.replicas,
    deleting: state.isDeleting,
    paused: state.isPaused,
    problems: state.isInvalid ? 1 : 0,
    problemLines: `* ${theProblem.path}: ${theProblem.message}`,
    failureText: creationFailure,
    freezeText: theFreeze,
    outdated: outdated.length,
    counted: counted.length,
    unreported: counted.filter((machine) => statusOf(machine, "UpToDate") === undefined).length,
    upToDateText: messageOf("UpToDate", counted),
    notReady: machines.filter((machine) => statusOf(machine, "Ready") === "False").length,
    readyUnknown: machines.filter((machine) => statusOf(machine, "Ready") === "Unknown").length,
    readyText: messageOf("Ready", machines),
    unhealthy: broken.length,
    unhealthyNames: shortenNames(broken.map(({ name }) => name)),
    inRemediation: machines.filter(isRemedied).length,
    remediationText: messageOf("OwnerRemediated", machines.filter(isRemedied)),
    slow: machines.filter((machine) => goneMs(machine) > 15 * 60_000).length,
    slowText,
    waits: waits.length,
    waitLines: waits.map((line) => `* ${line}`).join("\n"),
    untilCounted: first(machines.filter((machine) => !isCounted(machine)).map((machine) => 10_001 - ageMs(machine))),
    untilSlow: first(
      machines.filter((machine) => goneMs(machine) > 0).map((machine) => 15 * 60_000 + 1 - goneMs(machine)),
    ),
    untilPreservationEnds: first(
      broken.map(
        ({ facts }) => Date.parse(facts.machine.status?.currentStatus?.preserveExpiryTime ?? "") - now.getTime(),
      ),
    ),
    untilAny: first(machines.map(({ facts }) => msUntilIssuesChange(facts, now))),
  };
}

/** Values that speak of the progress of a deployment. */
function progressValues(
  { progress, replicas, sets, isHeld, isCreationBlocked }: OwnerState,
  machines: readonly Machine[],
): Values {
  const { reason, isWaiting = false, writtenMs = 0, deadlineSeconds, counters } = progress ?? {};
  const before = { replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0, ...counters };
  const updated = sets[0]?.length ?? 0;
  const available = machines.filter(isInService).length;
  const ready = machines.filter(
    (machine) => isAvailable(machine) && machine.status?.currentStatus?.phase === "Running",
  ).length;
  const restMs =
    deadlineSeconds === undefined || reason !== "MachineSetUpdated" || isWaiting
      ? Infinity
      : deadlineSeconds * 1000 - writtenMs;
  return {
    updated,
    complete: updated === replicas && machines.length === replicas && available === replicas,
    advanced:
      updated > before.updatedReplicas ||
      machines.length - updated < before.replicas - before.updatedReplicas ||
      ready > before.readyReplicas ||
      available > before.availableReplicas,
    overdue: restMs <= 0,
    untilDeadline: restMs > 0 ? restMs : Infinity,
    gated: isHeld,
    gateLines: theHold,
    hasLast: reason !== undefined,
    lastWasWaiting: isWaiting && reason === "MachineSetUpdated",
    lastWasPaused: reason === "DeploymentPaused",
    lastWasExceeded: reason === "ProgressDeadlineExceeded",
    lastWasAvailable: reason === "NewMachineSetAvailable",
    creating: sets[0] === undefined,
    creationBlocked: sets[0] === undefined && isCreationBlocked,
    creationBlock: theBlock,
  };
}

const missingClass = "MachineClass big does not exist";

function passOverDeployment(state: OwnerState): Outcome {
  const built = buildDeployment(state);
  const { snapshot, inputs } = built;
  const decision = withDeploymentConditions(decideMachineDeployment(snapshot, now), snapshot, inputs, now);
  const shared = sharedValues(state, built);
  const sets = snapshot.claim.owned;
  const isFrozen = state.isFrozen && sets.length > 0;
  const machines = [...snapshot.machines.values()].flat();
  const preserved = machines.filter(
    ({ status }) => status?.currentStatus?.phase === "Failed" && status.currentStatus.preserveExpiryTime !== undefined,
  );
  const holdLines = [
    ...(snapshot.problems.length > 0
      ? ["* Rollout is blocked because the spec is not valid: see SpecValid"]
      : state.isHeld
        ? [`* ${theHold}`]
        : []),
    ...(state.isPaused ? ["* Rollout is paused"] : []),
    ...(isFrozen ? ["* Rollout is blocked because MachineDeployment is frozen"] : []),
  ];
  const [, small, labeled] = state.sets;
  const reasonLines = [
    ...(small.length > 0 ? ["* MachineClass small, big required"] : []),
    ...(labeled.length > 0 ? ["* Template labels are not up-to-date"] : []),
  ];
  const blocks = state.isDeleting
    ? []
    : [
        ...specBlocks(state),
        ...(state.hasClass ? [] : [missingClass]),
        ...(isFrozen ? ["MachineDeployment is frozen"] : []),
        ...(state.isCreationRejected && sets.length > 0 ? [`last creation failed: ${creationFailure}`] : []),
      ];
  return {
    values: {
      ...shared,
      isAlone: false,
      ...progressValues(state, machines),
      newSet: decision.actions.find((action) => action.kind === "CreateMachineSet")?.set.metadata.name ?? "set-0",
      sets: sets.length,
      waitsForResume: state.isPaused && sets.length === 0,
      available: machines.filter(isInService).length,
      // The strategy of the builders allows no unavailability.
      needed: Math.max(0, state.replicas - preserved.length),
      failing: state.isCreationRejected ? sets.length : 0,
      frozen: isFrozen ? sets.length : 0,
      blockers: holdLines.length,
      pendingSets: state.pendingSet === "none" ? 0 : 1,
      pendingSetNames: pendingSetName,
      blockerLines: holdLines.join("\n"),
      reasonLines: reasonLines.join("\n"),
      blocks: blocks.length,
      firstBlock: blocks.join(" and "),
      allBlocks: ` ${blocks.join(" and ")}`,
    },
    actions: decision.actions.map(({ kind }) => kind),
    before: snapshot.deployment.status?.conditions ?? [],
    conditions: decision.status?.conditions,
    requeueAfterMs: decision.requeueAfterMs ?? Infinity,
  };
}

function passOverSet(state: OwnerState): Outcome {
  const built = buildSet(state);
  const { snapshot, inputs } = built;
  const decision = withSetConditions(decideMachineSet(snapshot, now), snapshot, inputs, now);
  const isCreationRejected = state.isCreationRejected && changesReplicas(decision.actions);
  const hasClass = snapshot.set.spec.template.spec.class?.name === "small" || state.hasClass;
  const crashed = snapshot.claim.owned.some(({ status }) => status?.currentStatus?.phase === "CrashLoopBackOff");
  const blocks = state.isDeleting
    ? []
    : [
        ...specBlocks(state),
        ...(state.isFrozen ? [`MachineSet is frozen (${theFreeze})`] : []),
        ...(hasClass ? [] : [missingClass]),
        ...(isCreationRejected
          ? [`last creation failed: ${creationFailure}`]
          : crashed
            ? ["last VM creation failed: "]
            : []),
      ];
  return {
    values: {
      ...sharedValues(state, built),
      isAlone: !state.isOwned,
      sets: 0,
      waitsForResume: false,
      failing: isCreationRejected ? 1 : 0,
      frozen: state.isFrozen ? 1 : 0,
      blocks: blocks.length,
      firstBlock: blocks[0] ?? "",
      allBlocks: `:\n${blocks.map((block) => `* ${block}`).join("\n")}`,
    },
    actions: decision.actions.map(({ kind }) => kind),
    before: snapshot.set.status?.machineSetCondition ?? [],
    conditions: decision.status?.machineSetCondition,
    requeueAfterMs: decision.requeueAfterMs ?? Infinity,
  };
}

const passOver: Readonly<Record<Owner, (state: OwnerState) => Outcome>> = {
  MachineDeployments: passOverDeployment,
  MachineSets: passOverSet,
};

/** A condition as the tables have it. */
const writtenCondition = (conditions: readonly Condition[] | undefined, type: string): unknown => {
  if (conditions === undefined) return "not written";
  const found = findCondition(conditions, type);
  if (found === undefined) return "absent";
  const { lastTransitionTime, lastUpdateTime: _, ...rest } = found;
  return { ...rest, hasTime: lastTransitionTime !== undefined };
};

/** The value of {@link writtenCondition} that a row expects. */
function expectedOf({ transition }: TransitionRow, values: Values, before: unknown): unknown {
  if (transition.kind === "unchanged") return before;
  if (transition.kind !== "condition") return transition.kind;
  const { type, status, reason, message, hasGeneration } = transition;
  const generation = hasGeneration ? { observedGeneration: 4 } : {};
  return { type, status, reason, message: filled(message, values), ...generation, hasTime: true };
}

const isOwner = (text: string): text is Owner => text in passOver;

describe("docs/project/conditions.md", () => {
  it("has a table for every condition", () => {
    expect(tables.map(({ type, owners }) => `${type} of ${owners.join(", ")}`)).toEqual([
      "Available of MachineDeployments",
      "Progressing of MachineDeployments",
      "ReplicaFailure of MachineDeployments, MachineSets",
      "Frozen of MachineDeployments, MachineSets",
      "RollingOut of MachineDeployments",
      "Remediating of MachineDeployments, MachineSets",
      "ScalingDown of MachineDeployments, MachineSets",
      "ScalingUp of MachineDeployments, MachineSets",
      "MachinesReady of MachineDeployments, MachineSets",
      "MachinesUpToDate of MachineDeployments, MachineSets",
      "SpecValid of MachineDeployments, MachineSets",
      "Paused of MachineDeployments",
      "Deleting of MachineDeployments, MachineSets",
    ]);
  });

  it.each(tables)("documents $type in every state", ({ type, owners, isOrdered, rows }) => {
    const reached = new Map<TransitionRow, Set<string>>();
    for (const owner of owners) {
      if (!isOwner(owner)) throw new TypeError(`${owner} has no conditions`);
      fc.assert(
        fc.property(isOrdered ? progressStates : ownerStates, (state) => {
          const outcome = passOver[owner](state);
          // An object whose finalizer is being removed has no status any more.
          if (outcome.conditions === undefined && type !== "Deleting") return;
          const rowsThatHold = rows.filter(({ guard }) => holds(guard, outcome.values));
          const [row, ...others] = rowsThatHold;
          if (row === undefined) throw new RangeError("no row holds");
          expect(isOrdered ? [] : others).toEqual([]);
          expect(writtenCondition(outcome.conditions, type)).toEqual(
            expectedOf(row, outcome.values, writtenCondition(outcome.before, type)),
          );
          const ms = row.next === undefined ? Infinity : Number(outcome.values[row.next]);
          expect(outcome.requeueAfterMs).toBeLessThanOrEqual(ms + 1000);
          reached.set(row, new Set([...(reached.get(row) ?? []), ...outcome.actions]));
        }),
        { seed: 9, numRuns: 500 },
      );
    }
    for (const row of rows) {
      const kinds = reached.get(row);
      expect(kinds, `no state reaches ${row.guard}`).toBeDefined();
      expect(
        row.actions.filter((kind) => kinds?.has(kind)),
        row.guard,
      ).toEqual(row.actions);
    }
  });

  it("leaves out no moment at which time alone changes a text, and names none without need", () => {
    fc.assert(
      fc.property(ownerStates, fc.constantFrom<Owner>("MachineDeployments", "MachineSets"), (state, owner) => {
        const { values, requeueAfterMs, conditions } = passOver[owner](state);
        if (conditions === undefined) return;
        const due = Math.min(Number(values["untilAny"]), Number(values["untilCounted"]));
        expect(requeueAfterMs === Infinity).toBe(due === Infinity);
        expect(requeueAfterMs).toBeLessThanOrEqual(due + 1000);
      }),
      { seed: 6, numRuns: 300 },
    );
  });
});
