/**
 * What a controller does about a code:
 *
 * - `none`: nothing went wrong.
 * - `transient`: the same call again soon.
 * - `exhausted`: again when there may be quota or capacity, at most after `--resource-exhausted-retry` (10 min by default).
 * - `persistent`: it takes a person or a long time; again after minutes.
 *
 * The delays, which double from failure to failure, are in docs/drivers.md. No code is final: calls go on until the creation timeout, and those of a deletion for ever. `retryAfterMs` of a `MachineError` may
 * lengthen a delay.
 */
export type RetryClass = "none" | "transient" | "exhausted" | "persistent";

interface CodeRow {
  /** The number in MCM and in gRPC, whose codes these are. */
  readonly number: number;
  readonly retry: RetryClass;
  /** When a driver answers with this code. */
  readonly meaning: string;
}

/**
 * The closed set of driver error codes: name on the wire, number, reaction and meaning (MCM, `pkg/util/provider/machinecodes`; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow).
 * Names appear in `status.lastOperation.errorCode` of machines; the cluster autoscaler and Gardener read them there.
 */
export const machineErrorCodes = {
  OK: { number: 0, retry: "none", meaning: "It worked. Never the code of a thrown error." },
  Canceled: {
    number: 1,
    retry: "persistent",
    meaning: "The cloud gave the operation up because someone cancelled it there.",
  },
  Unknown: {
    number: 2,
    retry: "transient",
    meaning: "The outcome is not known, for example a reply that cannot be read. The call may have had its effect.",
  },
  InvalidArgument: {
    number: 3,
    retry: "persistent",
    meaning: "The request cannot work until someone changes the class or the secret. The message names the field.",
  },
  DeadlineExceeded: {
    number: 4,
    retry: "transient",
    meaning: "The call ran out of time. It may have had its effect.",
  },
  NotFound: {
    number: 5,
    retry: "persistent",
    meaning:
      "There is no VM for this machine. Only for the VM itself: a missing image or subnet is InvalidArgument, or the controller would take the VM for gone.",
  },
  AlreadyExists: {
    number: 6,
    retry: "persistent",
    meaning: "A VM of this name exists that does not fit the request: made from another spec, or not ours.",
  },
  PermissionDenied: {
    number: 7,
    retry: "persistent",
    meaning: "The credentials are good but do not allow this, or the VM belongs to someone else.",
  },
  ResourceExhausted: {
    number: 8,
    retry: "exhausted",
    meaning: "Quota or capacity is used up. The autoscaler reads this code to try another pool.",
  },
  FailedPrecondition: {
    number: 9,
    retry: "persistent",
    meaning: "The cloud is in a state that forbids this, for example termination protection. The message says which.",
  },
  Aborted: {
    number: 10,
    retry: "transient",
    meaning: "Lost against a concurrent change, or stopped by the abort signal. Trying again is safe.",
  },
  OutOfRange: {
    number: 11,
    retry: "persistent",
    meaning: "More than one VM belongs to this machine. The message lists their ids.",
  },
  Unimplemented: {
    number: 12,
    retry: "persistent",
    meaning: "The driver has no such method. The host answers it for methods that a driver leaves out.",
  },
  Internal: { number: 13, retry: "persistent", meaning: "A fault in the driver or one that fits no other code." },
  Unavailable: {
    number: 14,
    retry: "transient",
    meaning: "The cloud cannot be reached or asks to slow down. Set `retryAfterMs` when it says for how long.",
  },
  DataLoss: { number: 15, retry: "persistent", meaning: "Data is lost for good." },
  Unauthenticated: {
    number: 16,
    retry: "persistent",
    meaning: "The credentials are missing, wrong or expired. The message names the secret's key, never its value.",
  },
  Uninitialized: {
    number: 17,
    retry: "persistent",
    meaning:
      "The VM exists but its initialization has not been done. Drivers of this contract answer `initialized: false` instead.",
  },
} as const satisfies Readonly<Record<string, CodeRow>>;

/** One of the eighteen names in {@link machineErrorCodes}. */
export type MachineErrorCode = keyof typeof machineErrorCodes;

/** Whether a value is the name of a code, in its exact spelling. */
export function isMachineErrorCode(value: unknown): value is MachineErrorCode {
  return typeof value === "string" && Object.hasOwn(machineErrorCodes, value);
}

/** What a controller does about a code. */
export function retryClassOf(code: MachineErrorCode): RetryClass {
  return machineErrorCodes[code].retry;
}

/**
 * Codes by which `createMachine` says for sure that the attempt made no VM and never will. Clouds remember the outcome of a token, a refusal included, so the next
 * attempt needs another one. Every other code leaves open what became of the call, or
 * says that there is a VM (`AlreadyExists`, which is also the answer to a token that was used with another input): the token stays.
 */
export const refusalCodes: ReadonlySet<MachineErrorCode> = new Set([
  "Canceled",
  "InvalidArgument",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Unimplemented",
  "Unauthenticated",
]);
