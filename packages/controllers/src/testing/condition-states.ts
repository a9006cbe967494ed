import type {
  Machine,
  MachineDeployment,
  MachineDeploymentStatus,
  MachinePhase,
  MachineSet,
  FieldProblem,
} from "@millwright/core/machine-api";
import * as fc from "fast-check";
import type { ConditionInputs } from "../conditions/owner/condition-inputs.ts";
import type { MachineDeploymentSnapshot } from "../machine-deployment/state/snapshot.ts";
import type { MachineSetSnapshot } from "../machine-set/snapshot.ts";
import { aMachine, aMachineDeployment, aMachineSet, beingDeleted, type Change, named, ownedBy } from "./builders.ts";
import { deploymentSnapshot } from "./deployment-snapshot.ts";
import { someConditionInputs } from "./judged-machines.ts";

/** When the states are observed. */
export const stateNow = new Date("2026-01-01T12:00:00Z");

const MINUTE = 60_000;
const ago = (ms: number): string => new Date(stateNow.getTime() - ms).toISOString().replace(".000Z", "Z");

/** A machine as a state has it. */
export interface MachineState {
  readonly phase: MachinePhase;
  /** Since when it is in its phase, milliseconds. */
  readonly phaseMs: number;
  readonly isPreserved: boolean;
  readonly ageMs: number;
  /** How long ago its deletion began; undefined: it is not deleted. */
  readonly deletedMs: number | undefined;
}

/** What an earlier reconcile wrote about the progress of a deployment. */
export interface ProgressState {
  /** Absent: nothing. */
  readonly reason: string | undefined;
  /** Whether it reported what the rollout waits for. */
  readonly isWaiting: boolean;
  readonly writtenMs: number;
  readonly deadlineSeconds: number | undefined;
  readonly counters: Required<
    Pick<MachineDeploymentStatus, "replicas" | "updatedReplicas" | "readyReplicas" | "availableReplicas">
  >;
}

/** A deployment, or a set, with all that its conditions depend on. */
export interface OwnerState {
  readonly replicas: number;
  readonly isDeleting: boolean;
  readonly isPaused: boolean;
  readonly isFrozen: boolean;
  readonly isCreationRejected: boolean;
  /** Of deployments: a set of another template without machines was scaled to one, or has not observed that it was scaled to none. */
  readonly pendingSet: "none" | "scaled" | "unobserved";
  /** Of deployments: a canary step, or the like, holds the rollout back. */
  readonly isHeld: boolean;
  /** Of deployments: the set of the current template may not be created. */
  readonly isCreationBlocked: boolean;
  readonly isInvalid: boolean;
  readonly hasClass: boolean;
  readonly target: "none" | "unreachable" | "present";
  /** Machines of each set: of the current template (absent: there is no such set yet), of another class, with other labels. */
  readonly sets: readonly [readonly MachineState[] | undefined, readonly MachineState[], readonly MachineState[]];
  /** A set of a deployment, or one on its own. */
  readonly isOwned: boolean;
  /** Of deployments, where it is asked for. Default: nothing was written, and there is no deadline. */
  readonly progress?: ProgressState;
}

const machineStates: fc.Arbitrary<MachineState> = fc.record({
  phase: fc.constantFrom<MachinePhase>("", "Pending", "Running", "Available", "Unknown", "Failed", "CrashLoopBackOff"),
  phaseMs: fc.constantFrom(MINUTE, 9 * MINUTE, 11 * MINUTE),
  isPreserved: fc.boolean(),
  ageMs: fc.constantFrom(3_000, 11_000, 60 * MINUTE),
  deletedMs: fc.constantFrom(undefined, undefined, undefined, MINUTE, 14 * MINUTE, 16 * MINUTE),
});
const few = fc.array(machineStates, { maxLength: 3 });
const sometimes = fc.integer({ min: 0, max: 4 }).map((number) => number === 0);

/** The set that {@link OwnerState.pendingSet} is about. */
export const pendingSetName = "set-3";

/** Any state that the tables cover. */
export const ownerStates: fc.Arbitrary<OwnerState> = fc.record({
  replicas: fc.integer({ min: 0, max: 4 }),
  isDeleting: sometimes,
  isPaused: sometimes,
  isFrozen: sometimes,
  isCreationRejected: sometimes,
  pendingSet: fc.constantFrom("none", "none", "scaled", "unobserved"),
  isHeld: sometimes,
  isCreationBlocked: sometimes,
  isInvalid: sometimes,
  hasClass: fc.boolean(),
  target: fc.constantFrom("none", "none", "unreachable", "present"),
  sets: fc.tuple(
    fc.option(few, { nil: undefined }),
    fc.oneof(fc.constant([]), few),
    fc.oneof(fc.constant([]), fc.constant([]), few),
  ),
  isOwned: fc.boolean(),
});

const count = fc.integer({ min: 0, max: 4 });

/** Any state of a deployment with any past. */
export const progressStates: fc.Arbitrary<OwnerState> = fc
  .record({
    reason: fc.constantFrom(
      undefined,
      "DeploymentPaused",
      "MachineSetUpdated",
      "NewMachineSetAvailable",
      "ProgressDeadlineExceeded",
    ),
    isWaiting: fc.boolean(),
    writtenMs: fc.constantFrom(MINUTE, 10 * MINUTE),
    deadlineSeconds: fc.constantFrom(undefined, 300),
    counters: fc.record({
      replicas: count,
      updatedReplicas: count,
      readyReplicas: count,
      availableReplicas: count,
    }),
  })
  .chain((progress) => ownerStates.map((state) => ({ ...state, progress })));

const statusBefore = ({ reason, isWaiting, writtenMs, counters }: ProgressState): MachineDeploymentStatus => ({
  ...counters,
  conditions:
    reason === undefined
      ? []
      : [
          {
            type: "Progressing",
            status:
              reason === "ProgressDeadlineExceeded" ? "False" : reason === "DeploymentPaused" ? "Unknown" : "True",
            reason,
            message: isWaiting && reason === "MachineSetUpdated" ? `MachineSet "set-0" waits: ${theHold}` : "as it was",
            lastTransitionTime: ago(writtenMs),
            lastUpdateTime: ago(writtenMs),
          },
        ],
});

const template = (name: string, labels: Readonly<Record<string, string>> = { name: "pool" }) => ({
  spec: { template: { metadata: { labels }, spec: { class: { kind: "MachineClass", name } } } },
});

/** What is wrong with the spec of an invalid state. */
export const theProblem: FieldProblem = { path: "spec.replicas", message: "must not be negative", kind: "invalid" };
export const creationFailure = "no quota";
export const theFreeze = "too many";
export const theHold = "Rollout pauses";
export const theBlock = "Cannot create a MachineSet";

function machineOf(set: MachineSet, index: number, state: MachineState): Machine {
  const { phase, phaseMs, isPreserved, ageMs, deletedMs } = state;
  const going = deletedMs === undefined ? {} : beingDeleted(ago(deletedMs));
  return aMachine(named(`${set.metadata.name}-${index}`), ownedBy(set), going, {
    metadata: { creationTimestamp: ago(ageMs) },
    spec: { class: set.spec.template.spec.class ?? null, ...(phase === "" ? {} : { providerID: "vm" }) },
    status: {
      currentStatus: {
        phase: deletedMs === undefined ? phase : "Terminating",
        lastUpdateTime: ago(deletedMs ?? phaseMs),
        ...(isPreserved && phase === "Failed" ? { preserveExpiryTime: ago(-MINUTE) } : {}),
      },
    },
  });
}

const condition = (type: string, reason: string, message: string) => ({
  type,
  status: "True",
  reason,
  message,
  lastTransitionTime: ago(MINUTE),
});
const marksOf = ({ isFrozen, isCreationRejected }: OwnerState): Change<MachineSet> => ({
  metadata: { labels: { name: "pool", ...(isFrozen ? { freeze: "True" } : {}) } },
  status: {
    machineSetCondition: [
      ...(isCreationRejected ? [condition("ReplicaFailure", "FailedCreate", creationFailure)] : []),
      ...(isFrozen ? [condition("Frozen", "OverShootingReplicaCount", theFreeze)] : []),
    ],
  },
});

const conditionInputsOf = (
  { hasClass, target }: OwnerState,
  deployment: MachineDeployment | undefined,
): ConditionInputs =>
  someConditionInputs({
    hasTarget: target !== "none",
    isTargetReachable: target !== "unreachable",
    classes: new Set(hasClass ? ["small", "big"] : ["small"]),
    deployment,
  });

/** A machine with the set that has it. */
export interface Member {
  readonly machine: Machine;
  readonly set: MachineSet;
}

/** A state as objects. */
export interface BuiltState<Snapshot> {
  readonly snapshot: Snapshot;
  readonly inputs: ConditionInputs;
  readonly deployment: MachineDeployment | undefined;
  readonly members: readonly Member[];
}

const theDeployment = ({ replicas, isPaused, isFrozen, isDeleting, progress }: OwnerState): MachineDeployment =>
  aMachineDeployment(
    template("big"),
    {
      metadata: { generation: 4, labels: isFrozen ? { freeze: "True" } : {} },
      spec: { replicas, paused: isPaused },
    },
    isDeleting ? beingDeleted(ago(MINUTE)) : {},
    progress === undefined
      ? {}
      : { spec: { progressDeadlineSeconds: progress.deadlineSeconds ?? null }, status: statusBefore(progress) },
  );

const templates = [template("big"), template("small"), template("big", { name: "pool", other: "label" })] as const;

/** The state as a deployment. */
export function buildDeployment(state: OwnerState): BuiltState<MachineDeploymentSnapshot> {
  const [current, ...others] = state.sets;
  const hasSets =
    current !== undefined || others.some((machines) => machines.length > 0) || state.pendingSet !== "none";
  // The label of a deployment without sets means nothing, and is removed.
  const deployment = theDeployment({ ...state, isFrozen: state.isFrozen && hasSets });
  const views = state.sets.flatMap((machines, index) => {
    if (machines === undefined || (index > 0 && machines.length === 0)) return [];
    const name = `set-${index}`;
    const set = aMachineSet(named(name), ownedBy(deployment), templates[index] ?? {}, marksOf(state), {
      spec: { replicas: machines.length },
      status: { observedGeneration: 1 },
    });
    return [{ set, machines: machines.map((machine, number) => machineOf(set, number, machine)) }];
  });
  if (state.pendingSet !== "none") {
    const set = aMachineSet(named(pendingSetName), ownedBy(deployment), template("small"), marksOf(state), {
      metadata: { generation: 2 },
      spec: { replicas: state.pendingSet === "scaled" ? 1 : 0 },
      status: { observedGeneration: state.pendingSet === "scaled" ? 2 : 1 },
    });
    views.push({ set, machines: [] });
  }
  return {
    snapshot: deploymentSnapshot({
      deployment,
      claim: { owned: views.map(({ set }) => set), adopt: [], release: [] },
      machines: new Map(views.map(({ set, machines }) => [set.metadata.uid ?? "", machines])),
      problems: state.isInvalid ? [theProblem] : [],
      limits: {
        mayStart: true,
        ...(state.isHeld ? { maxNew: 1, holds: [theHold] } : {}),
        ...(state.isCreationBlocked && current === undefined ? { blocksCreation: theBlock } : {}),
      },
    }),
    inputs: conditionInputsOf(state, undefined),
    deployment,
    members: views.flatMap(({ set, machines }) => machines.map((machine) => ({ set, machine }))),
  };
}

/** The state as a set: the one of another class where it has machines, else the current one. */
export function buildSet(state: OwnerState): BuiltState<MachineSetSnapshot> {
  const deployment = state.isOwned ? theDeployment({ ...state, isDeleting: false }) : undefined;
  const [current, old] = state.sets;
  const states = old.length > 0 ? old : (current ?? []);
  const set = aMachineSet(
    named("set-1"),
    old.length > 0 ? templates[1] : templates[0],
    marksOf(state),
    { metadata: { generation: 4 }, spec: { replicas: state.replicas } },
    state.isDeleting ? beingDeleted(ago(MINUTE)) : {},
    // Nothing was created since the last reconcile, which would be a reason to freeze.
    { status: { replicas: states.length } },
  );
  const owned = states.map((machine, index) => machineOf(set, index, machine));
  return {
    snapshot: {
      set,
      claim: { owned, adopt: [], release: [] },
      problems: state.isInvalid ? [theProblem] : [],
      // A set that is frozen stays so as long as it has far too many.
      controlled: state.isFrozen ? 1000 : owned.length,
      ...(state.isCreationRejected
        ? { memory: { failure: { reason: "FailedCreate", message: creationFailure } } }
        : {}),
    },
    inputs: conditionInputsOf(state, deployment),
    deployment,
    members: owned.map((machine) => ({ set, machine })),
  };
}
