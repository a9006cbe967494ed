import { annotationKeys, type Machine, type MachineSet } from "@millwright/core/machine-api";
import { usedApprovalsPatch } from "../deletion-budget/approval.ts";
import type { UsedApproval } from "../model/deletion-budget.ts";
import { type Hold, holdOn } from "../model/hold.ts";
import { honoredMinReadySeconds } from "../model/min-ready.ts";
import { machinesWhere, predicateFor } from "../machine-lists/machine-list.ts";
import { type AutoPreservation, planAutoPreservation, withPreservation } from "./plan-preserve-annotations.ts";
import { type ReplicaPlan, planReplicas } from "./plan-replicas.ts";
import type { MachineSetAction, MachineSetSnapshot } from "./snapshot.ts";
import { driftsFrom, templateDrift } from "./template-drift.ts";

/** The deletion of a machine, with its UID, so that a later machine with the same name is kept. */
export const deletionOf = (machine: Machine): MachineSetAction => ({
  kind: "DeleteMachine",
  name: machine.metadata.name,
  uid: machine.metadata.uid ?? "",
});

/** Machines that are not being deleted. */
export const notYetDeleted = (machines: readonly Machine[]): readonly Machine[] =>
  machines.filter((machine) => machine.metadata.deletionTimestamp == null);

/** Whether the deployment wants the machines that the set has too many, in another set. */
const isReplaced = ({ set, deployment }: Pick<MachineSetSnapshot, "set" | "deployment">): boolean =>
  (deployment?.spec.replicas ?? 0) > (set.spec.replicas ?? 0);

/** One patch for all that a machine inherits from its set. */
function patchOf(set: MachineSet, machine: Machine, preservation: AutoPreservation): MachineSetAction {
  const { name, resourceVersion } = machine.metadata;
  const drift = templateDrift(set, machine);
  const value = preservation.get(name);
  const annotations = { [annotationKeys.preserve]: value };
  // A concurrent change by a user must not be overwritten: the patch applies to the version that was read.
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const patch = { ...drift, ...(value === undefined ? {} : { metadata: { annotations, ...version } }) };
  return { kind: "PatchMachine", name, patch };
}

/** What an approval counts of these deletions and creations, and the action that records it on the object that approves. */
function useOf(
  { budget }: MachineSetSnapshot,
  begins: ReplicaPlan["remove"],
  creations: number,
): { readonly actions: readonly MachineSetAction[]; readonly counted: { readonly uses?: UsedApproval } } {
  const approved = budget?.approved;
  const count = begins.filter(({ isApproved }) => isApproved).length + creations;
  if (approved === undefined || count === 0) return { actions: [], counted: {} };
  const { by, kind, used } = approved;
  const patch = usedApprovalsPatch(by, used + count);
  return {
    actions: [{ kind: "UseApproval", of: kind, name: by.metadata.name, patch }],
    counted: { uses: { by, count } },
  };
}

/** Actions for the machines, and why missing ones are not created. */
export interface MembersDecision {
  readonly actions: readonly MachineSetAction[];
  readonly blocked?: Hold;
  readonly lacksOwnerless?: number;
  /** Machines that would be deleted if they were not protected. */
  readonly kept: readonly Machine[];
  /** Deletions that begin with these actions. */
  readonly begins: ReplicaPlan["remove"];
  /** What an approval counts of them. Default: nothing. */
  readonly uses?: UsedApproval;
  /** Deletions that the budget holds, and when a rate allows more. */
  readonly budget?: ReplicaPlan["budget"];
}

/** The machines to preserve. */
const preservationIn = ({ set, claim, nodes, heldBy }: MachineSetSnapshot): AutoPreservation =>
  holdOn(heldBy, "replacement") !== undefined ? new Map() : planAutoPreservation(set, claim.owned, nodes);

/** Machines about to be adopted count as soon as they are ours; creating before would overshoot. A CRD that is terminating accepts none. */
const mayCreate = ({ claim, machineCrd }: MachineSetSnapshot): boolean =>
  claim.adopt.length === 0 && machineCrd?.isTerminating !== true;

/**
 * What a set does with its machines: adoption and release, inherited fields, deletions and creations.
 *
 * @param room machines that may be created before the maximum is reached
 */
export function decideMembers(snapshot: MachineSetSnapshot, room: number, now: Date): MembersDecision {
  const { set, claim, nodes, heldBy, memory: { pending, isUnexplained } = {} } = snapshot;
  const adoptions = claim.adopt.map(({ metadata }): MachineSetAction => ({
    kind: "AdoptMachine",
    name: metadata.name,
  }));
  const held = holdOn(heldBy, "everything");
  if (held !== undefined) return { actions: adoptions, blocked: held, begins: [], kept: [] };
  const preservation = preservationIn(snapshot);
  const { create, remove, isCreationApproved, ...why } = planReplicas({
    set,
    // A failed machine that is preserved from now on is not replaced in this reconcile.
    owned:
      preservation.size === 0 ? claim.owned : claim.owned.map((machine) => withPreservation(machine, preservation)),
    now,
    room,
    budget: snapshot.budget,
    ownerless: snapshot.ownerless,
    isUnexplained,
    belongsToOther: snapshot.belongsToOther,
    isMinReadyHonored: snapshot.deployment !== undefined && honoredMinReadySeconds(snapshot.deployment) > 0,
    surplusCause: isReplaced(snapshot) ? "rollout" : "scale-down",
    // A machine counts until it is released: its replacement is created after that.
    pending: (pending?.count ?? 0) + claim.release.length,
    ...(nodes === undefined ? {} : { nodes }),
    heldBy,
    ...(pending === undefined ? {} : { leaving: pending.leaving }),
  });
  const going = new Set(remove.map(({ machine }) => machine.metadata.name));
  const begins = remove.filter(({ machine }) => machine.metadata.deletionTimestamp == null);
  const drifts = predicateFor(claim.owned, driftsFrom, set.spec.template);
  const takeOver =
    preservation.size === 0
      ? machinesWhere(claim.owned, drifts)
      : claim.owned.filter((machine) => drifts(machine) || preservation.has(machine.metadata.name));
  const creates = create > 0 && mayCreate(snapshot) ? create : 0;
  const use = useOf(snapshot, begins, isCreationApproved === true ? creates : 0);
  const actions = [
    // Before what it counts: a process that is killed in between approves nothing twice.
    ...use.actions,
    ...adoptions,
    ...claim.release.map(({ metadata }): MachineSetAction => ({ kind: "ReleaseMachine", name: metadata.name })),
    ...takeOver
      .filter(({ metadata }) => !going.has(metadata.name))
      .map((machine) => patchOf(set, machine, preservation)),
    ...begins.map(({ machine }) => deletionOf(machine)),
    ...(creates > 0 ? [{ kind: "CreateMachines", count: creates } as const] : []),
  ];
  return { actions, begins, ...use.counted, ...why };
}
