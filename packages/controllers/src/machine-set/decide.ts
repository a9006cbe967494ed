import { type FieldProblem, finalizers, type Machine, type MachineSet, type MachineSetStatus } from "@millwright/core";
import type { Claims } from "@millwright/kube";
import { refusalOf } from "../conditions/spec-valid.ts";
import type { Decision } from "../decision.ts";
import { type NodesOfMachines, planReplicas } from "./plan-replicas.ts";
import { machineSetStatus, type ReplicaFailure } from "./status.ts";
import { templateDrift } from "./template-drift.ts";

/** What a pass over a MachineSet sees. */
export interface MachineSetSnapshot {
  readonly set: MachineSet;
  readonly claim: Claims<Machine>;
  /** Nodes of the machines; none without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** What is wrong with the spec; empty when it can be followed. */
  readonly problems: readonly FieldProblem[];
  /** The last attempt to create or delete machines, while it stands as failed. */
  readonly failure?: ReplicaFailure | undefined;
  /** Creations that got no answer and whose machines have not been seen. */
  readonly pending?: Pending | undefined;
}

/** Creations of which nobody knows whether they happened. */
export interface Pending {
  readonly count: number;
  /** When the first of them is given up, milliseconds from now. */
  readonly expiresInMs: number;
}

/** Everything that a MachineSet does to the world. */
export type MachineSetAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "AdoptMachine"; readonly name: string }
  | { readonly kind: "ReleaseMachine"; readonly name: string }
  | { readonly kind: "PatchMachine"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "CreateMachines"; readonly count: number }
  | { readonly kind: "DeleteMachine"; readonly name: string; readonly uid: string };

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
  if (claim.owned.length === 0 && pending === undefined) return [{ kind: "RemoveFinalizer" }];
  return notYetDeleted(claim.owned).map(deletionOf);
}

function decideReplicas({ set, claim, pending, nodes }: MachineSetSnapshot, now: Date): readonly MachineSetAction[] {
  const plan = planReplicas(set, claim.owned, now, pending?.count, nodes);
  return [
    ...claim.adopt.map(({ metadata }): MachineSetAction => ({ kind: "AdoptMachine", name: metadata.name })),
    ...claim.release.map(({ metadata }): MachineSetAction => ({ kind: "ReleaseMachine", name: metadata.name })),
    ...claim.owned.flatMap((machine): MachineSetAction[] => {
      const patch = templateDrift(set, machine);
      return patch === undefined ? [] : [{ kind: "PatchMachine", name: machine.metadata.name, patch }];
    }),
    ...notYetDeleted(plan.remove).map(deletionOf),
    // Machines about to be adopted count as soon as they are ours; creating before would overshoot.
    ...(plan.create > 0 && claim.adopt.length === 0 ? [{ kind: "CreateMachines", count: plan.create } as const] : []),
  ];
}

/** Whether the pass asks the API server for something that it may refuse. */
export const changesReplicas = (actions: readonly MachineSetAction[]): boolean =>
  actions.some(({ kind }) => kind === "CreateMachines" || kind === "DeleteMachine");

/**
 * Decides what a MachineSet does next: claim its machines, keep their number, hand down what may change in place, and on its own
 * deletion take them with it. Deletion comes before validation, so that an object that became invalid can still go (F4).
 */
export function decideMachineSet(
  snapshot: MachineSetSnapshot,
  now: Date,
): Decision<MachineSetAction, MachineSetStatus> {
  const { set, claim, problems, pending } = snapshot;
  const wake = pending === undefined ? {} : { wakeAfterMs: pending.expiresInMs };
  // A failure stands only as long as there is something left to try.
  const statusWith = (actions: readonly MachineSetAction[]): MachineSetStatus => {
    const failure = changesReplicas(actions) ? snapshot.failure : undefined;
    return machineSetStatus({ set, owned: claim.owned, problems, failure }, now);
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
  const actions = decideReplicas(snapshot, now);
  return { actions, status: statusWith(actions), because, ...wake };
}
