import type { MachineErrorCode, NodeAddress } from "@millwright/core";

/** Driver calls that take their time and run beside the queue. */
export type OperationKind = "create" | "initialize" | "find" | "delete";

/** What a successful call found out. */
export interface OperationResult {
  readonly providerId?: string;
  readonly nodeName?: string;
  readonly addresses?: readonly NodeAddress[];
  readonly lastKnownState?: string | undefined;
  /** The VM was there already: made by an earlier attempt whose answer was lost. */
  readonly isAdopted?: boolean;
  /** The driver wants to initialize the VM before it counts as made. */
  readonly needsInitialization?: boolean;
}

/** The infrastructure has accepted a creation or deletion and has not finished it. */
export interface PendingOperation {
  readonly pending: {
    /** What it does at present, in the driver's words. */
    readonly message: string;
    /** Milliseconds until the same call is made again. */
    readonly checkAfterMs: number;
  };
}

/** Whether a call that did not fail has only been accepted. */
export const isPending = (result: OperationResult | PendingOperation): result is PendingOperation =>
  "pending" in result;

/** Why machines of a class cannot be made at present, as the last one that tried found out. */
export interface ClassBackoff {
  readonly code: MachineErrorCode;
  readonly message: string;
}

/** A driver call of one machine, as its decisions see it. */
export type OperationView =
  | {
      readonly kind: OperationKind;
      /** Until the call may begin: other machines of the class are being made, or the class is in trouble and another machine tries. */
      readonly state: "waiting";
      readonly inputs: string;
      /** Wall clock, milliseconds. */
      readonly since: number;
      readonly classBackoff?: ClassBackoff;
    }
  | { readonly kind: OperationKind; readonly state: "running" }
  | {
      readonly kind: OperationKind;
      /** Accepted and not finished; no call is under way. */
      readonly state: "pending";
      /** The driver's words. */
      readonly message: string;
      /** Wall clock, milliseconds: when the same call is made again. */
      readonly checkAt: number;
    }
  | { readonly kind: OperationKind; readonly state: "done"; readonly result: OperationResult }
  | {
      readonly kind: OperationKind;
      readonly state: "failed";
      readonly code: MachineErrorCode;
      readonly message: string;
      /** What the cloud asked for, milliseconds; beats the delay of the code's retry class when it is longer. */
      readonly retryAfterMs?: number | undefined;
      readonly lastKnownState?: string | undefined;
      /** A creation of which no VM is left or will come: the next attempt needs another idempotency token. */
      readonly isTokenSpent?: boolean;
      /** Wall clock, milliseconds. */
      readonly endedAt: number;
      /** `inputs` of the snapshot that the call was made with. */
      readonly inputs: string;
      /** How often the call has failed in a row, this time included. */
      readonly failures: number;
      /** From 0 to 1, the same for the same machine and number of failures: keeps machines that failed together from coming back together. */
      readonly jitter: number;
      /** Whether the failure has been written to the machine. */
      readonly isAcknowledged: boolean;
    };

/** A call whose operation is pending. */
export type PendingView = Extract<OperationView, { readonly state: "pending" }>;

/** A failed call. */
export type FailedOperation = Extract<OperationView, { readonly state: "failed" }>;

/** Where a creation waits for its turn, and what is known of the creations of the machine before it. */
export interface LaunchRequest {
  /** Machines with the same name share a lane: they ask for the same, and so run out of the same quota and capacity. */
  readonly name: string;
  /** Whether the machine has failed before, perhaps in another process: then one goes first. */
  readonly isRepeated: boolean;
  /** Whether the infrastructure accepted the creation before, perhaps by a call of another process: it does not wait. */
  readonly isAccepted?: boolean;
}
