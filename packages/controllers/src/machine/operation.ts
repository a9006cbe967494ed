import type { MachineErrorCode, NodeAddress } from "@millwright/core";

/** Driver calls that take their time and run beside the queue. */
export type OperationKind = "create" | "find" | "delete";

/** What a successful call found out. */
export interface OperationResult {
  readonly providerId?: string;
  readonly nodeName?: string;
  readonly addresses?: readonly NodeAddress[];
  readonly lastKnownState?: string | undefined;
  /** The VM was there already: made by an earlier attempt whose answer was lost. */
  readonly isAdopted?: boolean;
}

/** A driver call of one machine, as its decisions see it. */
export type OperationView =
  | { readonly kind: OperationKind; readonly state: "running" }
  | { readonly kind: OperationKind; readonly state: "done"; readonly result: OperationResult }
  | {
      readonly kind: OperationKind;
      readonly state: "failed";
      readonly code: MachineErrorCode;
      readonly message: string;
      /** What the cloud asked for, milliseconds; beats the delay of the code's retry class when it is longer. */
      readonly retryAfterMs?: number | undefined;
      readonly lastKnownState?: string | undefined;
      /** Wall clock, milliseconds. */
      readonly endedAt: number;
      /** `inputs` of the snapshot that the call was made with. */
      readonly inputs: string;
      /** Whether the failure has been written to the machine. */
      readonly isAcknowledged: boolean;
    };

/** A failed call. */
export type FailedOperation = Extract<OperationView, { readonly state: "failed" }>;
