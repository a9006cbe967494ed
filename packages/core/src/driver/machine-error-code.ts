/**
 * How a controller retries after a code:
 *
 * - `none`: nothing went wrong.
 * - `transient`: retries soon.
 * - `exhausted`: retries when quota or capacity may be available, at most after `--resource-exhausted-retry` (10 min by default).
 * - `persistent`: needs a user or a long time; retries after minutes.
 *
 * The delays, which double with each failure, are in docs/drivers.md. No code is final: creations are retried until the creation timeout, deletions without limit. `retryAfterMs` of a `MachineError` may
 * increase a delay.
 */
export type RetryClass = "none" | "transient" | "exhausted" | "persistent";

interface CodeRow {
  /** The number in MCM and in gRPC, whose codes these are. */
  readonly number: number;
  readonly retry: RetryClass;
  /** When a driver uses this code. */
  readonly meaning: string;
}

/**
 * The closed set of driver error codes: name on the wire, number, retry class and meaning (MCM, `pkg/util/provider/machinecodes`; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow).
 * Names appear in `status.lastOperation.errorCode` of machines; the cluster autoscaler and Gardener read them there.
 */
export const machineErrorCodes = {
  OK: { number: 0, retry: "none", meaning: "Success. Never the code of a thrown error." },
  Canceled: {
    number: 1,
    retry: "persistent",
    meaning: "The operation was canceled in the cloud.",
  },
  Unknown: {
    number: 2,
    retry: "transient",
    meaning: "The outcome is unknown, for example after an unreadable response. The call may have succeeded.",
  },
  InvalidArgument: {
    number: 3,
    retry: "persistent",
    meaning: "The request cannot succeed until the class or the secret is changed. The message names the field.",
  },
  DeadlineExceeded: {
    number: 4,
    retry: "transient",
    meaning: "The call timed out. It may have succeeded.",
  },
  NotFound: {
    number: 5,
    retry: "persistent",
    meaning:
      "The machine has no VM. Only for the VM itself: a missing image or subnet is InvalidArgument, because the controller would treat the VM as deleted.",
  },
  AlreadyExists: {
    number: 6,
    retry: "persistent",
    meaning:
      "A VM of this name exists that does not match the request: it was created from another spec, or is not managed by this cluster.",
  },
  PermissionDenied: {
    number: 7,
    retry: "persistent",
    meaning: "The credentials are valid but do not allow the request, or the VM is not managed by this cluster.",
  },
  ResourceExhausted: {
    number: 8,
    retry: "exhausted",
    meaning: "Quota or capacity is exhausted. The cluster autoscaler reads this code and scales up another node group.",
  },
  FailedPrecondition: {
    number: 9,
    retry: "persistent",
    meaning:
      "The state of the resource does not allow the request, for example termination protection. The message names it.",
  },
  Aborted: {
    number: 10,
    retry: "transient",
    meaning: "The call conflicted with a concurrent change, or was aborted. It can be retried.",
  },
  OutOfRange: {
    number: 11,
    retry: "persistent",
    meaning: "The machine has more than one VM. The message lists their ids.",
  },
  Unimplemented: {
    number: 12,
    retry: "persistent",
    meaning: "The driver does not implement the method. The host returns it for methods that a driver omits.",
  },
  Internal: {
    number: 13,
    retry: "persistent",
    meaning: "A bug in the driver, or an error that matches no other code.",
  },
  Unavailable: {
    number: 14,
    retry: "transient",
    meaning: "The cloud is unreachable or throttles requests. Set `retryAfterMs` if the cloud states it.",
  },
  DataLoss: { number: 15, retry: "persistent", meaning: "Data is lost permanently." },
  Unauthenticated: {
    number: 16,
    retry: "persistent",
    meaning: "The credentials are missing, wrong or expired. The message names the secret's key, never its value.",
  },
  Uninitialized: {
    number: 17,
    retry: "persistent",
    meaning: "The VM exists but is not initialized. Drivers of this contract return `initialized: false` instead.",
  },
} as const satisfies Readonly<Record<string, CodeRow>>;

/** One of the eighteen names in {@link machineErrorCodes}. */
export type MachineErrorCode = keyof typeof machineErrorCodes;

/** Whether a value is the name of a code, in its exact spelling. */
export function isMachineErrorCode(value: unknown): value is MachineErrorCode {
  return typeof value === "string" && Object.hasOwn(machineErrorCodes, value);
}

/** How a controller retries after a code. */
export function retryClassOf(code: MachineErrorCode): RetryClass {
  return machineErrorCodes[code].retry;
}

/**
 * Codes of `createMachine` which guarantee that the attempt created no VM and never will. Clouds remember the outcome of a token, including failures, so the next
 * attempt needs another one. After every other code the outcome is open, or
 * there is a VM (`AlreadyExists`, which is also the error for a token that was used with another input): the token is kept.
 */
export const rejectionCodes: ReadonlySet<MachineErrorCode> = new Set([
  "Canceled",
  "InvalidArgument",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Unimplemented",
  "Unauthenticated",
]);
