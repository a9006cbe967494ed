import {
  annotationKeys,
  type FieldProblem,
  finalizers,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  type MachineSetStatus,
  phaseOf,
} from "@millwright/core";
import type { Claims } from "@millwright/kube";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { refusalOf } from "../conditions/spec-valid.ts";
import type { Decision } from "../decision.ts";
import { isPreserved } from "../machine/phase.ts";
import { decideFreeze, type Freeze } from "../safety/freeze-set.ts";
import { defaultOvershootMargins, overshootLimits, type OvershootMargins } from "../safety/overshoot-limits.ts";
import { type AutoPreservation, planAutoPreservation, withPreservation } from "./plan-auto-preservation.ts";
import { type Blockade, planReplicas } from "./plan-replicas.ts";
import { machineSetStatus, type ReplicaFailure } from "./status.ts";
import { templateDrift } from "./template-drift.ts";

/** What a pass over a MachineSet sees. */
export interface MachineSetSnapshot {
  readonly set: MachineSet;
  readonly claim: Claims<Machine>;
  /** The deployment that controls the set, with defaults; none while its spec is refused. */
  readonly deployment?: MachineDeployment | undefined;
  /** Machines that the set controls, by its UID, whatever its selector says and whether they are on their way out or not. Default: those of the claim. */
  readonly controlled?: number;
  /** Nodes of the machines; none without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** What is wrong with the spec; empty when it can be followed. */
  readonly problems: readonly FieldProblem[];
  /** The last attempt to create or delete machines, while it stands as failed. */
  readonly failure?: ReplicaFailure | undefined;
  /** Requests that got no answer and whose effect has not been seen. */
  readonly pending?: Pending | undefined;
  /** Default: {@link defaultOvershootMargins}. */
  readonly margins?: OvershootMargins | undefined;
}

/** Creations and deletions of which nobody knows whether they happened. */
export interface Pending {
  /** Machines that may have been created. */
  readonly count: number;
  /** UIDs of machines that may be going. */
  readonly leaving: ReadonlySet<string>;
  /** When the first of them is given up, milliseconds from now. */
  readonly expiresInMs: number;
}

/** Everything that a MachineSet does to the world. */
export type MachineSetAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "PatchSet"; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "AdoptMachine"; readonly name: string }
  | { readonly kind: "ReleaseMachine"; readonly name: string }
  | { readonly kind: "PatchMachine"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "CreateMachines"; readonly count: number }
  | { readonly kind: "DeleteMachine"; readonly name: string; readonly uid: string };

export interface MachineSetDecision extends Decision<MachineSetAction, MachineSetStatus> {
  /** Why machines that are missing are not made. */
  readonly blocked?: Blockade;
}

const hasFinalizer = (set: MachineSet): boolean => set.metadata.finalizers?.includes(finalizers.machine) === true;

const deletionOf = (machine: Machine): MachineSetAction => ({
  kind: "DeleteMachine",
  name: machine.metadata.name,
  uid: machine.metadata.uid ?? "",
});

/** Machines that nobody has told to go yet. */
const notYetDeleted = (machines: readonly Machine[]): readonly Machine[] =>
  machines.filter((machine) => machine.metadata.deletionTimestamp == null);

/** A set on its way out takes its machines with it and waits for the last; its spec no longer matters. */
function decideDeletion({ set, claim, pending }: MachineSetSnapshot): readonly MachineSetAction[] {
  if (!hasFinalizer(set)) return [];
  if (claim.owned.length === 0 && (pending?.count ?? 0) === 0) return [{ kind: "RemoveFinalizer" }];
  return notYetDeleted(claim.owned).map(deletionOf);
}

/** Machines that exist because of this set, by UID and not by name or label (machineset-machinedeployment.md, F6). */
const controlledBy = ({ claim, controlled }: MachineSetSnapshot): number =>
  controlled ?? claim.owned.length + claim.release.length;

/** One patch for all that a machine takes over from its set. */
function patchOf(set: MachineSet, machine: Machine, preservation: AutoPreservation): readonly MachineSetAction[] {
  const { name, resourceVersion } = machine.metadata;
  const drift = templateDrift(set, machine);
  const value = preservation.get(name);
  if (drift === undefined && value === undefined) return [];
  const annotations = { [annotationKeys.preserve]: value };
  // A wish of people that comes at the same moment must not be overwritten: the patch holds for the version that was looked at.
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const patch = { ...drift, ...(value === undefined ? {} : { metadata: { annotations, ...version } }) };
  return [{ kind: "PatchMachine", name, patch }];
}

/** What is to be done about the machines, and why some that are missing are not made. */
interface MembersDecision {
  readonly actions: readonly MachineSetAction[];
  readonly blocked?: Blockade;
}

function decideMembers(snapshot: MachineSetSnapshot, room: number, isFrozen: boolean, now: Date): MembersDecision {
  const { set, claim, pending, nodes } = snapshot;
  const preservation = planAutoPreservation(set, claim.owned, nodes);
  const { create, remove, blocked } = planReplicas({
    set,
    // A failure that is kept from now on is not replaced in this very pass.
    owned: claim.owned.map((machine) => withPreservation(machine, preservation)),
    now,
    room,
    isFrozen,
    // One that is to be released is ours until it is: its successor comes after.
    pending: (pending?.count ?? 0) + claim.release.length,
    ...(nodes === undefined ? {} : { nodes }),
    ...(pending === undefined ? {} : { leaving: pending.leaving }),
  });
  const going = new Set(remove.map(({ metadata }) => metadata.name));
  const actions = [
    ...claim.adopt.map(({ metadata }): MachineSetAction => ({ kind: "AdoptMachine", name: metadata.name })),
    ...claim.release.map(({ metadata }): MachineSetAction => ({ kind: "ReleaseMachine", name: metadata.name })),
    ...claim.owned
      .filter(({ metadata }) => !going.has(metadata.name))
      .flatMap((machine) => patchOf(set, machine, preservation)),
    ...notYetDeleted(remove).map(deletionOf),
    // Machines about to be adopted count as soon as they are ours; creating before would overshoot.
    ...(create > 0 && claim.adopt.length === 0 ? [{ kind: "CreateMachines", count: create } as const] : []),
  ];
  return { actions, ...(blocked === undefined ? {} : { blocked }) };
}

/** Whether the pass asks the API server for something that it may refuse. */
export const changesReplicas = (actions: readonly MachineSetAction[]): boolean =>
  actions.some(({ kind }) => kind === "CreateMachines" || kind === "DeleteMachine");

/** When time alone changes what is to be done: an answer that does not come, or the end of a preservation. */
function wakeOf({ claim, pending }: MachineSetSnapshot, now: Date): { readonly wakeAfterMs?: number } {
  const expiries = claim.owned
    .filter((machine) => phaseOf(machine) === "Failed" && isPreserved(machine, now))
    .map((machine) => Date.parse(machine.status?.currentStatus?.preserveExpiryTime ?? "") - now.getTime());
  const wakeAfterMs = Math.min(pending?.expiresInMs ?? Infinity, ...expiries);
  return wakeAfterMs === Infinity ? {} : { wakeAfterMs };
}

/**
 * Decides what a MachineSet does next: claim its machines, keep their number, hand down what may change in place, and on its own
 * deletion take them with it. Deletion comes before validation, so that an object that became invalid can still go (F4).
 */
export function decideMachineSet(snapshot: MachineSetSnapshot, now: Date): MachineSetDecision {
  const { set, claim, problems, deployment, pending, margins = defaultOvershootMargins } = snapshot;
  const wake = wakeOf(snapshot, now);
  // A failure stands only as long as there is something left to try.
  const statusWith = (actions: readonly MachineSetAction[], freeze?: Freeze): MachineSetStatus => {
    const failure = changesReplicas(actions) ? snapshot.failure : undefined;
    return machineSetStatus({ set, owned: claim.owned, problems, failure, freeze }, now);
  };
  if (set.metadata.deletionTimestamp != null) {
    const actions = decideDeletion(snapshot);
    // With the finalizer the object itself goes: there is nothing left to write a status to.
    const isLast = actions.some(({ kind }) => kind === "RemoveFinalizer") || !hasFinalizer(set);
    return { actions, because: [], ...wake, ...(isLast ? {} : { status: statusWith(actions) }) };
  }
  const because = refusalOf(problems, set.status?.machineSetCondition);
  if (problems.length > 0) return { actions: [], status: statusWith([]), because };
  if (!hasFinalizer(set)) return { actions: [{ kind: "AddFinalizer" }], because };
  const limits = overshootLimits(set, deployment, margins);
  const controlled = controlledBy(snapshot);
  const freeze = decideFreeze(set, controlled, limits);
  const room = limits.upper - controlled - (pending?.count ?? 0);
  const members = decideMembers(snapshot, room, freeze.isFrozen, now);
  const patch: readonly MachineSetAction[] =
    freeze.patch === undefined ? [] : [{ kind: "PatchSet", patch: freeze.patch }];
  return {
    ...members,
    actions: [...patch, ...members.actions],
    status: statusWith(members.actions, freeze),
    because: [...because, ...freeze.because],
    ...wake,
  };
}
