import { isForReplacement } from "../machine-lists/for-replacement.ts";
import { labelKeys, type Machine, type MachineSet, updateResults } from "@millwright/core/machine-api";
import { allowDeletions, type AllowedDeletions, type SetDeletion } from "../deletion-budget/allow-deletions.ts";
import { judgeCreation } from "../deletion-budget/judge-creation.ts";
import type { DeletionCause, SetBudget } from "../model/deletion-budget.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { isProtected } from "../model/deletion-protection.ts";
import { type Hold, holdOn } from "../model/hold.ts";
import { isDeleting, isFailed, isPresent } from "../model/phase.ts";
import { countWhere, type MachineList, machinesWhere } from "../machine-lists/machine-list.ts";
import { selectForDeletion } from "./deletion-order.ts";
import { isPrioritizedForDeletion, stateOfMark } from "../model/scale-in-mark.ts";

/** At most this many machines are created, and as many deleted, in one reconcile, so that one large set cannot flood the API server. */
export const BURST = 100;

const ofCreation = (by: string, message: string, remedy = ""): Hold => ({ by, holds: "creation", message, remedy });

const classOf = ({ spec: { template } }: MachineSet): string =>
  `${template.spec.class?.kind ?? "MachineClass"} ${template.spec.class?.name ?? ""}`;

/** Why missing machines are not created, besides what the snapshot has. */
export const creationHolds = {
  disabled: ({ metadata }: MachineSet): Hold | undefined =>
    metadata.labels?.[labelKeys.scaleUpDisabled] === undefined
      ? undefined
      : ofCreation("scale-up disabled", `scale-up is disabled by label ${labelKeys.scaleUpDisabled}`),
  maximum: (count: number): Hold =>
    ofCreation("maximum reached", `${count} machines exist, terminating ones included, which is the maximum`),
  listing: (set: MachineSet): Hold => ofCreation("listing VMs", `waiting for the list of VMs of ${classOf(set)}`),
  ownerless: (set: MachineSet): Hold =>
    ofCreation("ownerless VMs", `VMs of ${classOf(set)} without Machine exist; see DeletionsHeld`),
} as const;

/** How a set reaches its number of machines. */
export interface ReplicaPlan {
  /** Machines to create now. */
  readonly create: number;
  /** Machines to delete now, the most dispensable first. */
  readonly remove: readonly SetDeletion[];
  /** Machines that would be deleted if they were not protected. */
  readonly kept: readonly Machine[];
  /** Deletions that the budget holds, and when a rate allows more. */
  readonly budget?: Omit<AllowedDeletions, "allowed">;
  /** How many VMs without Machine matter, whose number the facts lack: nothing is created. */
  readonly lacksOwnerless?: number;
  /** Why missing machines are not created, not even by a later reconcile. */
  readonly blocked?: Hold;
  /** Whether an approval counts the creations. Default: not. */
  readonly isCreationApproved?: true;
}

/** The input of a plan. */
export interface ReplicaFacts {
  readonly set: MachineSet;
  /** Machines that the set controls and selects. */
  readonly owned: MachineList;
  readonly now: Date;
  /** Nodes of the machines, whose annotations count too. Default: none. */
  readonly nodes?: NodesOfMachines;
  /** What is held of the set: the creation of machines, or the replacement of Failed ones. Default: nothing. */
  readonly heldBy?: readonly Hold[] | undefined;
  /** Machines whose creation got no response: they may exist, so they are not created again. Default 0. */
  readonly pending?: number;
  /** UIDs of machines whose deletion got no response: they may be terminating, so no other is deleted instead. Default: none. */
  readonly leaving?: ReadonlySet<string>;
  /** Machines that may be created before the maximum is reached. Default: no limit. */
  readonly room?: number;
  /** Absent: all deletions are allowed. */
  readonly budget?: SetBudget | undefined;
  /** VMs of the class without Machine, by how many of them matter. Absent: there are none. */
  readonly ownerless?: ReadonlyMap<number, OwnerlessVms> | undefined;
  /** Whether the status counts machines that are missing. Default: not. */
  readonly isUnexplained?: boolean | undefined;
  /** Whether machines count as available only after `spec.minReadySeconds`. Default: at once. */
  readonly isMinReadyHonored?: boolean;
  /** Whether the VM of a machine belongs to another Machine. Default: none does. */
  readonly belongsToOther?: ((machine: Machine) => boolean) | undefined;
  /** Why surplus machines are deleted. Default: the set was scaled down. */
  readonly surplusCause?: DeletionCause;
}

/** Whether a machine stays with its set. One that an in-place update just moved here is not surplus. */
const isSettled = (machine: Machine): boolean =>
  !isDeleting(machine) && machine.metadata.labels?.[labelKeys.updateResult] !== updateResults.successful;

/** What blocks the creation of missing machines. Settings of users and of the deployment come before limits. */
const blockadeOf = ({ set, heldBy, owned, room = Infinity }: ReplicaFacts, missing: number): Hold | undefined =>
  holdOn(heldBy, "creation") ??
  creationHolds.disabled(set) ??
  (room < missing ? creationHolds.maximum(owned.length) : undefined);

/** Whether the priority of a machine is its own: then its deletion names it. A template may give one to all. */
const isNamedBy =
  ({ spec }: MachineSet) =>
  (machine: Machine): boolean =>
    isPrioritizedForDeletion(machine) &&
    !isPrioritizedForDeletion({ metadata: { name: "", ...spec.template.metadata }, spec: {} });

/** A plan that waits for a list of VMs. */
const awaitList = (set: MachineSet, before: ReplicaPlan["budget"], moreInMs: number): Partial<ReplicaPlan> => ({
  create: 0,
  blocked: creationHolds.listing(set),
  budget: { ...before, moreInMs },
});

/**
 * What a plan does instead of a creation of machines that may exist. Machines that the status counts may be missing in the cache alone: a list of VMs is awaited, which compares it with the API server.
 * A large creation is held while VMs without Machine may be those of the missing machines.
 */
function holdCreation(
  { set, budget, ownerless, isUnexplained = false }: ReplicaFacts,
  count: number,
  before: ReplicaPlan["budget"],
): Partial<ReplicaPlan> {
  if (ownerless === undefined) return {};
  const compared = ownerless.get(1);
  if (isUnexplained && compared === undefined) return { create: 0, lacksOwnerless: 1 };
  if (isUnexplained && compared?.state === "listing") return awaitList(set, before, compared.forMs);
  if (budget === undefined) return {};
  const className = set.spec.template.spec.class?.name ?? "";
  const judged = judgeCreation({ className, count, budget, ownerless: (from) => ownerless.get(from) });
  switch (judged.verdict) {
    case "proceed":
      return judged.isApproved === true ? { isCreationApproved: true } : {};
    case "unknown":
      return { create: 0, lacksOwnerless: judged.count };
    case "wait":
      return awaitList(set, before, judged.forMs);
    case "held":
      return { create: 0, blocked: creationHolds.ownerless(set), budget: { held: judged.held, ...before } };
  }
}

/** How many of the missing machines a plan creates, and why no more. */
function creationOf(facts: ReplicaFacts, missing: number, plan: ReplicaPlan): Partial<ReplicaPlan> {
  const { room = Infinity } = facts;
  const blocked = blockadeOf(facts, missing);
  if (blocked === undefined) return holdCreation(facts, missing, plan.budget);
  const create = blocked.by === "maximum reached" ? Math.min(plan.create, Math.max(0, room)) : 0;
  return { create, blocked, ...(create === 0 ? {} : holdCreation(facts, missing, plan.budget)) };
}

/** Machines that the set deletes, the most dispensable first: surplus ones, those of the autoscaler, and Failed ones; and those of them that are protected. */
function deletionsOf(
  { set, owned, now, nodes = new Map(), heldBy, isMinReadyHonored, belongsToOther = () => false }: ReplicaFacts,
  surplus: number,
  isCandidate: (machine: Machine) => boolean,
  surplusCause: DeletionCause,
): { readonly deletions: readonly SetDeletion[]; readonly kept: readonly Machine[] } {
  const isDeletable = (machine: Machine): boolean => isCandidate(machine) && !isProtected(machine);
  const isKept = (machine: Machine): boolean => isCandidate(machine) && isProtected(machine);
  const isNamed = isNamedBy(set);
  const marked = machinesWhere(owned, isPrioritizedForDeletion).filter((each) => stateOfMark(each, set) === "counts");
  const failed =
    holdOn(heldBy, "replacement") === undefined
      ? machinesWhere(owned, isFailed).filter((machine) => isForReplacement(machine, nodes, now))
      : [];
  const options = { isMinReadyHonored, belongsToOther };
  // A protected copy of a Machine is surplus that stays: without a VM of its own, it is not worth a real machine.
  const copies =
    surplus === 0 ? [] : machinesWhere(owned, isProtected).filter((each) => isCandidate(each) && belongsToOther(each));
  const selected = selectForDeletion(owned, Math.max(0, surplus - copies.length), isDeletable, now, options);
  const singled = [...marked, ...failed];
  const causeOf = (machine: Machine): DeletionCause => {
    if (marked.includes(machine) || isNamed(machine)) return "autoscaler";
    return failed.includes(machine) ? "remediation" : surplusCause;
  };
  const remove = new Set([...selected, ...singled.filter(isDeletable)]);
  return {
    deletions: [...remove].map((machine) => ({ machine, cause: causeOf(machine) })),
    kept: [
      ...new Set([
        ...selectForDeletion(owned, surplus - selected.length, isKept, now, options),
        ...singled.filter(isKept),
      ]),
    ],
  };
}

/**
 * Compares the machines of a set with its `spec.replicas` (MCM, `pkg/controller/machineset.go` manageReplicas).
 *
 * A Failed machine counts as long as it exists; it is deleted, and while it is terminating it no longer counts and is
 * replaced. Machines just transferred by an in-place update count as present but not as surplus. Unlike the Go
 * implementation protected machines are not deleted, both halves run in every reconcile, so that failed machines are deleted even while others are missing, and
 * creations stay within `room`.
 */
export function planReplicas(facts: ReplicaFacts): ReplicaPlan {
  const { set, owned, pending = 0, leaving = new Set(), budget, surplusCause = "scale-down" } = facts;
  const wanted = set.spec?.replicas ?? 0;
  const isCandidate = (machine: Machine): boolean => isSettled(machine) && !leaving.has(machine.metadata.uid ?? "");
  const settled = leaving.size === 0 ? countWhere(owned, isSettled) : countWhere(owned, isCandidate);

  const missing = Math.max(0, wanted - countWhere(owned, isPresent) - pending);
  const surplus = Math.max(0, settled - wanted);
  const { deletions, kept } = deletionsOf(facts, surplus, isCandidate, surplusCause);
  const { allowed, ...rest } = budget === undefined ? { allowed: deletions } : allowDeletions(deletions, budget);
  const plan: ReplicaPlan = {
    create: Math.min(missing, BURST),
    remove: allowed.slice(0, BURST),
    kept,
    ...("held" in rest ? { budget: rest } : {}),
  };

  return plan.create === 0 ? plan : { ...plan, ...creationOf(facts, missing, plan) };
}
