import type { MachineErrorCode } from "@millwright/core";
import type { MachineStatus } from "@millwright/core/machine-api";
import type { Decision } from "../../model/decision.ts";
import type { DrainAction } from "../../drain/drain-action.ts";
import type { LaunchRequest } from "../../model/operation.ts";
import type { PatchNodeStatus } from "../../model/node-condition.ts";
import type { OperationKind } from "../../model/operation.ts";

/** All actions of the machine controller. */
export type MachineAction =
  /** Merge patch of metadata and spec. */
  | { readonly kind: "PatchMachine"; readonly patch: object }
  /** Starts a driver call outside of the queue; its end enqueues the machine. */
  | {
      readonly kind: "StartOperation";
      readonly operation: OperationKind;
      /** Of a creation: the idempotency token. */
      readonly token?: string;
      /** Of a creation: its launch group. */
      readonly launch?: LaunchRequest;
    }
  /** Cancels a throttled driver call, or drops a pending one. */
  | { readonly kind: "CancelOperation" }
  /** Removes the bootstrap token of the machine from the target cluster. */
  | { readonly kind: "RemoveBootstrapToken" }
  /** The result of the driver call cannot be used: it counts as a failure. */
  | { readonly kind: "FailOperation"; readonly code: MachineErrorCode; readonly message: string }
  /** The outcome of the driver call is stored in the objects by the other actions and the status. Takes effect after all of them. */
  | { readonly kind: "AcknowledgeOperation" }
  /** Deletes the Machine object. */
  | { readonly kind: "DeleteMachine"; readonly uid: string }
  /** Uses the remediation budget of the group; always the first action. */
  | { readonly kind: "StartRemediation"; readonly uid: string; readonly group: string }
  /** Releases the remediation budget: the machine is not replaced. */
  | { readonly kind: "CancelRemediation"; readonly uid: string }
  | DrainAction
  | PatchNodeStatus
  /** Reads a Node from the API server into the cache, which may be behind. */
  | { readonly kind: "ReadNode"; readonly name: string }
  | { readonly kind: "DeleteNode"; readonly name: string; readonly uid: string }
  /** A failure does not block the deletion. */
  | { readonly kind: "DeleteVolumeAttachment"; readonly name: string; readonly uid: string };

export type MachineDecision = Decision<MachineAction, MachineStatus>;

/** A decision that does nothing and waits for events. */
export const nothing: MachineDecision = { actions: [], because: [] };
