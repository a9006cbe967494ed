import type { OrphaningOwners } from "../../ownership/orphaning-owners.ts";
import type { FieldProblem, Machine, MachineDeployment, MachineDeploymentStatus, MachineSet } from "@millwright/core";
import type { Claims } from "@millwright/kube";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import type { Decision } from "../../model/decision.ts";
import type { NodeChange } from "./node-patch.ts";
import { findNewSet, oldestFirst } from "./find-new-set.ts";
import type { RolloutGates } from "./rollout-gates.ts";
import type { SetView } from "./set-size.ts";

/** The state that a reconcile of a MachineDeployment is based on. */
export interface MachineDeploymentSnapshot {
  /** With defaults filled in. */
  readonly deployment: MachineDeployment;
  readonly claim: Claims<MachineSet>;
  /** Whether the deployment is deleted without its sets. Default: not. */
  readonly orphaning?: ReturnType<OrphaningOwners["stateOf"]>;
  /** Machines by the UID of the set that controls them. */
  readonly machines: ReadonlyMap<string, readonly Machine[]>;
  /** Nodes of the machines; absent without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** Whether scale-down by the cluster-autoscaler is disabled during a rollout. Default: `true`. */
  readonly disablesScaleDown?: boolean;
  /** Problems of the spec; empty when it is valid. */
  readonly problems: readonly FieldProblem[];
  /** Names of machines that have not served for long enough to count as available. Default: none. */
  readonly settling?: ReadonlySet<string>;
  /** The sets of the claim, as {@link viewSets} sorts them, once per reconcile. Default: sorted when they are needed. */
  readonly sets?: Sets;
  /** What restricts the rollout besides surge and unavailability. Default: nothing. */
  readonly limits?: RolloutGates;
}

/** Everything that a MachineDeployment writes. */
export type MachineDeploymentAction =
  | { readonly kind: "AddFinalizer" }
  | { readonly kind: "RemoveFinalizer" }
  | { readonly kind: "AdoptMachineSet"; readonly name: string }
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

/** The sets of a deployment, sorted into the one of the current template and the others, oldest first. */
export interface Sets {
  readonly newSet: SetView | undefined;
  readonly oldSets: readonly SetView[];
}

/** All sets, the one of the current template last. */
export const allOf = ({ newSet, oldSets }: Sets): readonly SetView[] =>
  newSet === undefined ? oldSets : [...oldSets, newSet];

/** Sorts the sets that a snapshot owns, each with its machines. */
export function viewSets({ deployment, claim, machines, settling, sets }: MachineDeploymentSnapshot): Sets {
  if (sets !== undefined) return sets;
  const view = (set: MachineSet): SetView => ({
    set,
    machines: machines.get(set.metadata.uid ?? "") ?? [],
    ...(settling === undefined ? {} : { settling }),
  });
  const newSet = findNewSet(deployment, claim.owned);
  return {
    newSet: newSet === undefined ? undefined : view(newSet),
    oldSets: oldestFirst(claim.owned.filter((set) => set !== newSet)).map(view),
  };
}
