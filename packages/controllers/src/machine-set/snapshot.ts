import type { FieldProblem, Machine, MachineDeployment, MachineSet, MachineSetStatus } from "@millwright/core";
import type { Claims } from "@millwright/kube";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import type { Decision } from "../model/decision.ts";
import type { OvershootMargins } from "../safety/overshoot-limits.ts";
import type { Blockade } from "./plan-replicas.ts";
import type { ReplicaFailure } from "./status.ts";

/** What a pass over a MachineSet sees. */
export interface MachineSetSnapshot {
  readonly set: MachineSet;
  readonly claim: Claims<Machine>;
  /** The deployment that controls the set, with defaults; none while its spec is refused. */
  readonly deployment?: MachineDeployment | undefined;
  /** Machines that the set controls, by its UID, whatever its selector says and whether they are on their way out or not. Default: those of the claim. */
  readonly controlled?: number;
  /** Machines that the last pass saw. Default: those of the stored status. */
  readonly countBefore?: number | undefined;
  /** Nodes of the machines; none without a target cluster. */
  readonly nodes?: NodesOfMachines;
  /** What is wrong with the spec; empty when it can be followed. */
  readonly problems: readonly FieldProblem[];
  /** The last attempt to create or delete machines, while it stands as failed. */
  readonly failure?: ReplicaFailure | undefined;
  /** Requests that got no answer and whose effect has not been seen. */
  readonly pending?: Pending | undefined;
  /** Whether the CRD of machines allows that they are deleted with it: then none of them are waited for. Default: not. */
  readonly isCrdDeletionAllowed?: boolean;
  /** Whether the CRD of machines is terminating, so that the API server accepts no new ones. Default: not. */
  readonly isCrdTerminating?: boolean;
  /** Default: `defaultOvershootMargins`. */
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
