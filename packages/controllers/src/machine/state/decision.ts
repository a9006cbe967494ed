import type { MachineStatus } from "@millwright/core";
import type { Decision } from "../../model/decision.ts";
import type { DrainAction } from "../../drain/drain-action.ts";
import type { LaunchRequest } from "../../model/operation.ts";
import type { PatchNodeStatus } from "../../model/node-condition.ts";
import type { OperationKind } from "../../model/operation.ts";

/** Everything that a Machine does to the world. */
export type MachineAction =
  /** Merge patch of metadata and spec. */
  | { readonly kind: "PatchMachine"; readonly patch: object }
  /** Starts a driver call beside the queue; its end wakes the machine. */
  | {
      readonly kind: "StartOperation";
      readonly operation: OperationKind;
      /** Of a creation: the idempotency token. */
      readonly token?: string;
      /** Of a creation: where it waits for its turn. */
      readonly launch?: LaunchRequest;
    }
  /** Takes back a driver call that waits for its turn, or forgets one that is pending. */
  | { readonly kind: "CancelOperation" }
  /** Removes the bootstrap token of the machine from the target cluster. */
  | { readonly kind: "RemoveBootstrapToken" }
  /** The outcome of the driver call is in the objects now. */
  | { readonly kind: "AcknowledgeOperation" }
  /** Deletes the machine itself, as a user would. */
  | { readonly kind: "DeleteMachine"; readonly uid: string }
  /** The machine passes the replacement gate of its group with this decision; always the first action. */
  | { readonly kind: "StartRemediation"; readonly uid: string; readonly group: string }
  /** The machine passed the gate, and is not replaced after all. */
  | { readonly kind: "CancelRemediation"; readonly uid: string }
  | DrainAction
  | PatchNodeStatus
  | { readonly kind: "DeleteNode"; readonly name: string; readonly uid: string }
  /** One that cannot be deleted holds nothing up. */
  | { readonly kind: "DeleteVolumeAttachment"; readonly name: string; readonly uid: string };

export type MachineDecision = Decision<MachineAction, MachineStatus>;

/** A decision that does nothing and waits for events. */
export const nothing: MachineDecision = { actions: [], because: [] };
