import type {
  FieldProblem,
  Machine,
  MachineDeployment,
  MachineSet,
  MachineSetStatus,
} from "@millwright/core/machine-api";
import type { Claims, OrphaningOwners } from "@millwright/kube";
import type { Hold } from "../model/hold.ts";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import type { SetDeletion } from "../deletion-budget/allow-deletions.ts";
import type { HeldDeletions, SetBudget, UsedApproval } from "../model/deletion-budget.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import type { MachineList } from "../machine-lists/machine-list.ts";
import type { Decision } from "../model/decision.ts";
import type { OvershootMargins } from "../safety/overshoot-limits.ts";
import type { ReplicaFailure } from "./status.ts";

/** The machines of a set, and those that come or go. */
export interface ClaimedMachines extends Claims<Machine> {
  readonly owned: MachineList;
  /** Those that the set released, and that still exist without a controller. Default: none. */
  readonly released?: readonly Machine[];
  /** Those of a set that does not exist, which the set would adopt if they were not terminating: they are held, with their VMs. Default: none. */
  readonly lost?: readonly Machine[];
}

/** The state that a reconcile of a MachineSet is based on. */
export interface MachineSetSnapshot {
  readonly set: MachineSet;
  readonly claim: ClaimedMachines;
  /** The deployment that controls the set, with defaults; none while its spec is invalid. */
  readonly deployment?: MachineDeployment | undefined;
  /** What is held of the set. With a hold of its deletion, it deletes none of its machines while it is terminating. Default: nothing. */
  readonly heldBy?: readonly Hold[];
  /** Machines that the set controls, by its UID, whatever its selector, terminating ones included. Default: those of the claim. */
  readonly controlled?: number;
  /** Whether the set is deleted without its machines. Default: not. */
  readonly orphaning?: ReturnType<OrphaningOwners["stateOf"]>;
  /** Whether the deployment that the set names does not exist, by the API server: the set was restored from a backup, and the garbage collector deletes it. Default: not. */
  readonly isLost?: boolean;
  /** Nodes of the machines; none without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** Whether the VM of a machine belongs to another Machine. Default: none does. */
  readonly belongsToOther?: (machine: Machine) => boolean;
  /** Problems of the spec; empty when it is valid. */
  readonly problems: readonly FieldProblem[];
  /** What this process remembers of the set. Default: nothing. */
  readonly memory?: SetMemory;
  /** The CRD of machines, while it is being deleted or may be. Default: neither. */
  readonly machineCrd?: MachineCrd;
  /** Absent: all deletions are allowed. */
  readonly budget?: SetBudget | undefined;
  /** VMs of the class without Machine, by how many of them matter; see {@link MachineSetDecision.lacksOwnerless}. Absent: there are none. */
  readonly ownerless?: ReadonlyMap<number, OwnerlessVms>;
  /** Whether it is known that no VM of the class is without Machine: then missing machines do not exist. Default: not. */
  readonly hasNoOwnerlessVms?: boolean;
  /** VMs of machines of the set that do not exist; only of one that was restored from a file, or that has fewer machines than its status when this process first saw it, and needs no more. Default: not known. */
  readonly lostVms?: OwnerlessVms | undefined;
  /** Default: `defaultOvershootMargins`. */
  readonly margins?: OvershootMargins | undefined;
}

/** What a process remembers of a set between two reconciles. */
export interface SetMemory {
  /** Machines that the last reconcile saw. Default: those of the stored status. */
  readonly countBefore?: number | undefined;
  /** Released machines that the last reconcile saw. Default: none. */
  readonly releasedBefore?: number | undefined;
  /** Lost machines that were recorded on the set. Default: none. */
  readonly lostBefore?: number | undefined;
  /** Whether machines are missing that the status of the set counted when this process first saw it. Default: not. */
  readonly isUnexplained?: boolean;
  /** Machines that are missing since the API server went back to an earlier state; see `VanishedMachines`. Default 0. */
  readonly vanished?: number;
  /** The last failed attempt to create or delete machines, until one succeeds. */
  readonly failure?: ReplicaFailure | undefined;
  /** Requests without a response whose effect has not been seen. */
  readonly pending?: Pending | undefined;
}

/** What a set depends on of the CRD of machines. */
export interface MachineCrd {
  /** Whether it allows that machines are deleted with it: then none of them are waited for. */
  readonly isDeletionAllowed: boolean;
  /** Whether it is terminating, so that the API server accepts no new machines. */
  readonly isTerminating: boolean;
}

/** Creations and deletions with unknown results. */
export interface Pending {
  /** Machines that may have been created. */
  readonly count: number;
  /** UIDs of machines that may be terminating. */
  readonly leaving: ReadonlySet<string>;
  /** When the first of them is read, milliseconds from now. */
  readonly overdueInMs: number;
}

/** Everything that a MachineSet writes. */
export type MachineSetAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "PatchSet"; readonly patch: Readonly<Record<string, unknown>> }
  /** Of the set, or of its deployment. */
  | {
      readonly kind: "UseApproval";
      readonly of: "MachineSet" | "MachineDeployment";
      readonly name: string;
      readonly patch: object;
    }
  | { readonly kind: "AdoptMachine"; readonly name: string }
  | { readonly kind: "ReleaseMachine"; readonly name: string }
  /** Of a set that is deleted without its machines. */
  | { readonly kind: "OrphanMachine"; readonly name: string }
  | { readonly kind: "PatchMachine"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "CreateMachines"; readonly count: number }
  | {
      readonly kind: "DeleteMachine";
      readonly name: string;
      readonly uid: string;
      /** Deletes the machine only in this version. */
      readonly resourceVersion?: string;
    };

export interface MachineSetDecision extends Decision<MachineSetAction, MachineSetStatus> {
  /** Why missing machines are not created. */
  readonly blocked?: Hold;
  /** How many VMs without Machine matter to the decision, which lacks their number in `ownerless`: it creates nothing. */
  readonly lacksOwnerless?: number;
  /** Deletions that begin with its actions, for the deletion budget. Default: none. */
  readonly begins?: readonly SetDeletion[];
  /** What an approval counts of its actions. Default: nothing. */
  readonly uses?: UsedApproval;
  /** Deletions that the deletion budget holds. */
  readonly held?: HeldDeletions | undefined;
}
