import type { MachineErrorCode, NodeAddress } from "@millwright/core";

/** Long-running driver calls, outside of the queue. */
export type OperationKind = "create" | "initialize" | "find" | "delete";

/** Result of a successful call. */
export interface OperationResult {
  readonly providerId?: string;
  readonly nodeName?: string;
  readonly addresses?: readonly NodeAddress[];
  readonly lastKnownState?: string | undefined;
  /** The VM existed: created by an earlier attempt whose response was lost. */
  readonly isAdopted?: boolean;
  /** The VM must be initialized before its creation is complete. */
  readonly needsInitialization?: boolean;
  /** Name of the Machine for which the VM was created, where it was not this one. */
  readonly vmName?: string;
  /** The driver has seen the VM to delete, and that it has ended. */
  readonly isEndSeen?: boolean;
  /** The VM to delete was not found. */
  readonly isMissing?: boolean;
  /** The VM to delete is that of another machine: it is kept, and this machine has none. */
  readonly isKept?: boolean;
  /** Why the answer of a driver to a look-up cannot be read; there is nothing else then. */
  readonly unreadable?: string;
}

/** The infrastructure has accepted a creation or deletion, which is still in progress. */
export interface PendingOperation {
  readonly pending: {
    /** Its progress, as the driver reports it. */
    readonly message: string;
    /** Milliseconds until the same call is made again. */
    readonly checkAfterMs: number;
  };
}

/** Whether a successful call is still in progress. */
export const isPending = (result: OperationResult | PendingOperation): result is PendingOperation =>
  "pending" in result;

/** Why machines of a class cannot be created at present, from the last failed attempt. */
export interface ClassBackoff {
  readonly code: MachineErrorCode;
  readonly message: string;
}

/** A driver call of one machine, as decisions see it. */
export type OperationView =
  | {
      readonly kind: OperationKind;
      /** Throttled: too many concurrent creations, or the class is backed off and another machine retries. */
      readonly state: "waiting";
      readonly inputs: string;
      /** Wall clock, milliseconds. */
      readonly since: number;
      readonly classBackoff?: ClassBackoff;
      /** The attempt before was rejected, and no request was made with the token of this one. */
      readonly isUnasked?: true;
    }
  | {
      readonly kind: OperationKind;
      readonly state: "running";
      /** Wall clock, milliseconds: when the call was made. */
      readonly since: number;
    }
  | {
      readonly kind: OperationKind;
      /** Accepted and in progress; no call is running. */
      readonly state: "pending";
      /** The driver's message. */
      readonly message: string;
      /** Wall clock, milliseconds: when the same call is made again. */
      readonly checkAt: number;
    }
  | {
      readonly kind: OperationKind;
      readonly state: "done";
      readonly result: OperationResult;
      /** Wall clock, milliseconds. */
      readonly endedAt: number;
      /** `inputs` of the snapshot that the call was made with. */
      readonly inputs: string;
    }
  | {
      readonly kind: OperationKind;
      readonly state: "failed";
      readonly code: MachineErrorCode;
      readonly message: string;
      /** Requested by the cloud, milliseconds; overrides a shorter backoff of the code's retry class. */
      readonly retryAfterMs?: number | undefined;
      readonly lastKnownState?: string | undefined;
      /** A creation whose VM does not exist and will not: the next attempt needs another idempotency token. */
      readonly isTokenSpent?: boolean;
      /** Wall clock, milliseconds. */
      readonly endedAt: number;
      /** `inputs` of the snapshot that the call was made with. */
      readonly inputs: string;
      /** Wall clock, milliseconds: when the first of the consecutive failures ended. */
      readonly firstFailedAt: number;
      /** Consecutive failures of the call, including this one. */
      readonly failures: number;
      /** From 0 to 1, the same for the same machine and number of failures: spreads the retries of machines that failed together. */
      readonly jitter: number;
      /** Whether the call was not made, since others with the same credential are refused. */
      readonly isHeldBack?: boolean;
      /** Whether the failure has been written to the machine. */
      readonly isAcknowledged: boolean;
    };

/** A call whose operation is pending. */
export type PendingView = Extract<OperationView, { readonly state: "pending" }>;

/** A failed call. */
export type FailedOperation = Extract<OperationView, { readonly state: "failed" }>;

/** Whether no VM exists or will exist from any request: each was rejected. False where that is not known, as after a restart. */
export const isRejected = (view: OperationView | undefined): boolean =>
  view?.kind === "create" &&
  ((view.state === "failed" && view.isTokenSpent === true) || (view.state === "waiting" && view.isUnasked === true));

/** The launch group of a creation, and what is known of earlier attempts. */
export interface LaunchRequest {
  /** Name of the group: its machines share quota and capacity. */
  readonly name: string;
  /** Whether the machine has failed before, perhaps in another process: then one machine at a time retries. */
  readonly isRepeated: boolean;
  /** Whether the infrastructure accepted the creation before, perhaps by a call of another process: it is not throttled. */
  readonly isAccepted?: boolean;
}
