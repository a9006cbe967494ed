import type {
  FieldProblem,
  MachineDeployment,
  MachineDeploymentStatus,
  MachineSet,
} from "@millwright/core/machine-api";
import type { Claims, OrphaningOwners } from "@millwright/kube";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import type { Hold } from "../../model/hold.ts";
import type { Decision } from "../../model/decision.ts";
import type { MachineList } from "../../machine-lists/machine-list.ts";
import type { NodeChange } from "./node-patch.ts";
import type { Rollout } from "../../model/rollout.ts";
import type { RolloutGates } from "./rollout-gates.ts";
import type { Sets } from "./sets.ts";

/** Why no machine can be made from a class. */
export interface UnusableClass {
  /** A sentence without its full stop. */
  readonly problem: string;
  /** When to look again. Absent: a change of the class or its Secrets shows it. */
  readonly until?: Date;
}

/** The objects that a reconcile of a MachineDeployment has read. */
export interface ObservedDeployment {
  /** With defaults filled in. */
  readonly deployment: MachineDeployment;
  /** The size of a deployment without `spec.replicas`, as `deployment` has it: `kept`, to be written, for one with size annotations; `zero` for any other. Absent: the spec has one. */
  readonly assumedSize?: "kept" | "zero";
  readonly claim: Claims<MachineSet>;
  /** Sets that the deployment released because their labels no longer match its selector, and that have no other controller. Default: none. */
  readonly released?: readonly MachineSet[];
  /** Whether the deployment is deleted without its sets. Default: not. */
  readonly orphaning?: ReturnType<OrphaningOwners["stateOf"]>;
  /** Machines by the UID of the set that controls them. */
  readonly machines: ReadonlyMap<string, MachineList>;
  /** Nodes of the machines; absent without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** Why no machine can be made from the class of the template. Absent: nothing is known that is against it. */
  readonly unusableClass?: UnusableClass;
  /** What is held of the deployment. With a hold of replacements, a missing Node means nothing. Default: nothing. */
  readonly heldBy?: readonly Hold[];
  /** Whether scale-down by the cluster-autoscaler is disabled during a rollout. Default: `true`. */
  readonly disablesScaleDown?: boolean;
  /** Whether the machine controller of this process writes the annotation against scale-down to a node that joins. Default: `false`. */
  readonly awaitsFirstSync?: boolean;
  /** Problems of the spec, and of the annotations that extend it. */
  readonly problems: readonly FieldProblem[];
  /** Whether the spec has none of them. */
  readonly isSpecValid: boolean;
}

/** The state that a reconcile of a MachineDeployment is based on: what was read, and the facts that follow from it. */
export interface MachineDeploymentSnapshot extends ObservedDeployment {
  readonly sets: Sets;
  /** The rollout that is under way. Absent: none is. */
  readonly rollout?: Rollout;
  /** What restricts the rollout besides surge and unavailability. */
  readonly limits: RolloutGates;
}

/** Everything that a MachineDeployment writes. */
export type MachineDeploymentAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "AdoptMachineSet"; readonly name: string }
  /** Of a deployment that is deleted without its sets. */
  | { readonly kind: "OrphanMachineSet"; readonly name: string }
  /** Of a set whose labels no longer match. */
  | { readonly kind: "ReleaseMachineSet"; readonly name: string }
  | { readonly kind: "CreateMachineSet"; readonly set: MachineSet }
  | { readonly kind: "PatchMachineSet"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "PatchMachine"; readonly name: string; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly kind: "PatchNodes"; readonly nodes: readonly NodeChange[] }
  | {
      readonly kind: "DeleteMachineSet";
      readonly name: string;
      readonly uid: string;
      /** Deletes the set only in this version. */
      readonly resourceVersion?: string;
    }
  | { readonly kind: "PatchDeployment"; readonly patch: Readonly<Record<string, unknown>> };

export type MachineDeploymentDecision = Decision<MachineDeploymentAction, MachineDeploymentStatus>;
