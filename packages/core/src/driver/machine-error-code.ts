/**
 * How a controller retries after a code:
 *
 * - `none`: nothing went wrong.
 * - `transient`: retries soon.
 * - `exhausted`: retries when quota or capacity may be available, at most after `--resource-exhausted-retry` (10 min by default).
 * - `persistent`: needs a user or a long time; retries after minutes.
 *
 * The delays, which double with each failure, are in docs/reference/error-codes.md. No code is final: creations are retried until the creation timeout, deletions without limit. `retryAfterMs` of a `MachineError` may
 * increase a delay.
 */
export type RetryClass = "none" | "transient" | "exhausted" | "persistent";

interface CodeRow {
  /** The number in MCM and in gRPC, whose codes these are. */
  readonly number: number;
  readonly retry: RetryClass;
  /** When a driver uses this code. */
  readonly meaning: string;
  /** What an operator does about it; empty where nothing went wrong. */
  readonly operator: string;
}

/**
 * The closed set of driver error codes: name on the wire, number, retry class, meaning and what an operator does (MCM, `pkg/util/provider/machinecodes`; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerCreationFlow and triggerDeletionFlow).
 * Names appear in `status.lastOperation.errorCode` of machines; the cluster autoscaler and Gardener read them there.
 */
export const machineErrorCodes = {
  OK: { number: 0, retry: "none", meaning: "Success. Never the code of a thrown error.", operator: "" },
  Canceled: {
    number: 1,
    retry: "persistent",
    meaning: "The operation was canceled in the cloud.",
    operator: "Find out in the audit log of the cloud who canceled it.",
  },
  Unknown: {
    number: 2,
    retry: "transient",
    meaning: "The outcome is unknown, for example after an unreadable response. The call may have succeeded.",
    operator: "Nothing at first. If it persists, read the message and the log of the driver.",
  },
  InvalidArgument: {
    number: 3,
    retry: "persistent",
    meaning: "The request cannot succeed until the class or the secret is changed. The message names the field.",
    operator:
      "Correct the field that the message names in the MachineClass or its Secret. The next attempt follows at once.",
  },
  DeadlineExceeded: {
    number: 4,
    retry: "transient",
    meaning: "The call timed out. It may have succeeded.",
    operator: "Nothing at first. If it persists, check the network to the cloud and its status page.",
  },
  NotFound: {
    number: 5,
    retry: "persistent",
    meaning:
      "The machine has no VM. Only for the VM itself: a missing image or subnet is InvalidArgument, because the controller would treat the VM as deleted.",
    operator: "Nothing: a creation makes the VM, a deletion is complete.",
  },
  AlreadyExists: {
    number: 6,
    retry: "persistent",
    meaning:
      "A VM of this name exists that does not match the request: it was created from another spec, or is not managed by this cluster.",
    operator:
      "Delete or rename the other VM in the cloud, if nothing needs it, or delete the Machine: the next one has another name.",
  },
  PermissionDenied: {
    number: 7,
    retry: "persistent",
    meaning: "The credentials are valid but do not allow the request, or the VM is not managed by this cluster.",
    operator:
      "Grant what the message names to the identity in the Secret. `millwright doctor` checks the permissions of a class.",
  },
  ResourceExhausted: {
    number: 8,
    retry: "exhausted",
    meaning: "Quota or capacity is exhausted. The cluster autoscaler reads this code and scales up another node group.",
    operator: "Raise the quota, name fallback classes in the MachineClass, or use another zone or type.",
  },
  FailedPrecondition: {
    number: 9,
    retry: "persistent",
    meaning:
      "The state of the resource does not allow the request, for example termination protection. The message names it.",
    operator: "Change the state that the message names, for example switch off the termination protection of the VM.",
  },
  Aborted: {
    number: 10,
    retry: "transient",
    meaning: "The call conflicted with a concurrent change, or was aborted. It can be retried.",
    operator: "Nothing. If it persists, find the other client that changes the same resource.",
  },
  OutOfRange: {
    number: 11,
    retry: "persistent",
    meaning: "The machine has more than one VM. The message lists their ids.",
    operator: "Keep one of the VMs that the message lists, and delete the others in the cloud.",
  },
  Unimplemented: {
    number: 12,
    retry: "persistent",
    meaning: "The driver does not implement the method. The host returns it for methods that a driver omits.",
    operator: "Use a driver, or a version of it, that has the method.",
  },
  Internal: {
    number: 13,
    retry: "persistent",
    meaning: "A bug in the driver, or an error that matches no other code.",
    operator: "Report it to the author of the driver, with the log.",
  },
  Unavailable: {
    number: 14,
    retry: "transient",
    meaning: "The cloud is unreachable or throttles requests. Set `retryAfterMs` if the cloud states it.",
    operator: "Nothing at first. If it persists, check the network, the proxy, and the API quota of the account.",
  },
  DataLoss: {
    number: 15,
    retry: "persistent",
    meaning: "Data is lost permanently.",
    operator: "Read the message, and restore what was lost from a backup.",
  },
  Unauthenticated: {
    number: 16,
    retry: "persistent",
    meaning: "The credentials are missing, wrong or expired. The message names the secret's key, never its value.",
    operator: "Write valid credentials into the Secret. The next attempt follows at once.",
  },
  Uninitialized: {
    number: 17,
    retry: "persistent",
    meaning: "The VM exists but is not initialized. Drivers of this contract return `initialized: false` instead.",
    operator: "Nothing at first: the initialization is repeated. If it persists, read the message.",
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
