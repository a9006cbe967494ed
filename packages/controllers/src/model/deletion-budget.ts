import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { Approver } from "./hold.ts";

/** Why machines are deleted: label of the metrics. */
export type DeletionCause =
  /** A set has more machines than `spec.replicas`. */
  | "scale-down"
  /** The set has an older template than its deployment. */
  | "rollout"
  /** The machine is Failed. */
  | "remediation"
  /** The cluster-autoscaler marked the machine. */
  | "autoscaler"
  /** A MachineSet, a MachineDeployment or the Namespace is deleted. */
  | "parent"
  /** The Machine itself is deleted by another client. */
  | "machine"
  /** A VM has no Machine. */
  | "orphan-vm"
  /** Not a deletion: machines are created although VMs without Machine exist, which may be theirs. */
  | "creation";

/** The machines that a share is taken of: those of one deployment (or of a set without one), or all of the namespace. */
export interface DeletionScope {
  readonly kind: "MachineDeployment" | "MachineSet" | "Namespace";
  readonly name: string;
  /** Machines in service whose deletion has not begun. */
  readonly inService: number;
  /** Machines in service that were deleted within the last hour, minus those that came into service; not below 0. */
  readonly loss: number;
  /** The share of its own, 0 to 1. Absent: that of the budget. */
  readonly share?: number;
}

/** Deletions that wait for an approval, or for the rate. */
export interface HeldDeletions {
  /** `pace`: they are approved, and wait for others. */
  readonly why: "share" | "rate" | "ownerless VMs" | "lost owner" | "lost Machines" | "pace";
  readonly cause: DeletionCause;
  /** Machines whose deletion is held. */
  readonly count: number;
  /** Whose budget is used up. For a rate: class or namespace. */
  readonly scope: { readonly kind: DeletionScope["kind"] | "MachineClass"; readonly name: string };
  /** Machines that may be deleted within an hour. */
  readonly limit: number;
  /** Machines of the scope: in service, and lost within the hour. */
  readonly total: number;
  /** Deleted within the hour, and not replaced. */
  readonly loss: number;
  /** When the last of the deletions was requested that other clients request, RFC 3339. */
  readonly before?: string | undefined;
}

/** What an approval allows a set to do. */
export interface ApprovedWork {
  /** The object that approves: `used` is recorded with it. */
  readonly by: MachineDeployment | MachineSet;
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly work: "deletions" | "creations";
  /** Machines that may still be deleted, or created. */
  readonly left: number;
  /** How many of them may begin now. */
  readonly room: number;
  /** Absent: there is no pace. */
  readonly atATime?: number | undefined;
  /** What approvals were used for in the generation of the object. */
  readonly used: number;
}

/** What an approval was used for. */
export interface UsedApproval {
  readonly by: MachineDeployment | MachineSet;
  /** Deletions and creations; negative: they are taken back. */
  readonly count: number;
}

/** The share of a budget that concerns one MachineSet. Valid in the turn of the event loop in which it was read. */
export interface SetBudget {
  /** 0 to 1; 0: no share limits deletions. */
  readonly share: number;
  readonly scopes: readonly DeletionScope[];
  /** Whether deletions of the set need no budget: an annotation approves all of them, for a time. */
  readonly isApproved: boolean;
  /** An approval of what was held. Default: none. */
  readonly approved?: ApprovedWork | undefined;
  /** UIDs of machines whose deletion uses the share: they are in service, and their deletion was not allowed before. There may be others. */
  readonly counted: ReadonlySet<string>;
  /** How many more machines may be deleted by the rate, and of whose rate that is. */
  readonly rate: RateRoom;
  /** Deletions of machines of the set that other clients requested, and that are held. */
  readonly requested: HeldDeletions | undefined;
}

/** What a rate leaves. */
export interface RateRoom {
  readonly count: number;
  readonly scope: HeldDeletions["scope"];
  readonly limit: number;
  /** Until one more is left, milliseconds. */
  readonly moreInMs: number;
}

/** What a rule of the budget leaves to a scope. */
export interface BudgetRoom {
  readonly rule: "share" | "rate";
  readonly scope: HeldDeletions["scope"];
  /** Machines that may be deleted within an hour. */
  readonly limit: number;
  /** How many more may be deleted now without an approval; not below 0. */
  readonly remaining: number;
}

/** What to do about a Machine that another client deletes. */
export type BudgetVerdict =
  | { readonly verdict: "proceed"; readonly isApproved: boolean; readonly cause: DeletionCause }
  /** More deletions may follow that belong to the same request. */
  | { readonly verdict: "wait"; readonly forMs: number }
  | { readonly verdict: "held"; readonly held: HeldDeletions; readonly approver: Approver };

/** One budget for all deletions of machines: see docs/project/decisions/deletion-budget.md. */
export interface DeletionBudget {
  /** Sets another share, 0 to 1; 0: no share limits deletions. What is held is judged by it in the next reconcile. */
  setShare(share: number): void;
  /** The budget for the deletions of a set now. */
  ofSet(set: MachineSet, deployment: MachineDeployment | undefined): SetBudget;
  /** Of a machine that is terminating; `undefined` when its deletion was allowed before, or has begun. */
  ofMachine(machine: Machine): BudgetVerdict | undefined;
  /** Enters a deletion that begins now. To be called in the turn of the event loop in which it was judged. */
  enter(machine: Machine, cause: DeletionCause, isApproved: boolean): void;
  /** Counts what an approval was used for, in the same turn. */
  useApproval(use: UsedApproval): void;
  /** Enters the deletion of a VM without Machine, if the rates of its class and of the namespace have room; returns whether they have. */
  enterOrphanVm(className: string): boolean;
  /** Undoes {@link DeletionBudget.enter}: the API server rejected the deletion. */
  revoke(uid: string): void;
  /** Records what a set holds, for the metrics; `undefined`: nothing. */
  recordHeld(setKey: string, held: HeldDeletions | undefined): void;
  /** Machines whose deletion is held now, by cause. */
  heldByCause(): ReadonlyMap<DeletionCause, number>;
  /** What the budget leaves, for the metrics: of the namespace, and of what has machines, or deletions within the hour. Without a share, only rates. */
  rooms(): readonly BudgetRoom[];
  /** Deletions that began since the process started, by cause. */
  begunByCause(): ReadonlyMap<DeletionCause, number>;
  /** Calls `listener` with a terminating machine whose verdict may have changed. */
  onChange(listener: (machine: Machine) => void): void;
}
