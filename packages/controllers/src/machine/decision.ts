import type { MachineStatus } from "@millwright/core";
import type { Decision } from "../decision.ts";
import type { DrainAction } from "../drain/drain-action.ts";
import type { OperationKind } from "./operation.ts";

/** Everything that a Machine does to the world. */
export type MachineAction =
  /** Merge patch of metadata and spec. */
  | { readonly kind: "PatchMachine"; readonly patch: object }
  /** Starts a driver call beside the queue; its end wakes the machine. */
  | { readonly kind: "StartOperation"; readonly operation: OperationKind }
  /** The outcome of the driver call is in the objects now. */
  | { readonly kind: "AcknowledgeOperation" }
  /** Deletes the machine itself, as a user would. */
  | { readonly kind: "DeleteMachine"; readonly uid: string }
  | DrainAction
  /** Strategic merge patch of a node's status: its conditions are merged by type. */
  | { readonly kind: "PatchNodeStatus"; readonly name: string; readonly patch: object }
  | { readonly kind: "DeleteNode"; readonly name: string; readonly uid: string }
  | { readonly kind: "DeleteVolumeAttachment"; readonly name: string; readonly uid: string };

export type MachineDecision = Decision<MachineAction, MachineStatus>;

/** A decision that does nothing and waits for events. */
export const nothing: MachineDecision = { actions: [], because: [] };
