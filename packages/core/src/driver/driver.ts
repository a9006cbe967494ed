import type { Clock } from "@millwright/base";
import type { ApiCall } from "./api-call.ts";
import type { CloudExchange } from "./cloud-exchange.ts";
import type {
  CheckClassRequest,
  CheckClassResponse,
  CreateMachineRequest,
  CreateMachineResponse,
  DeleteMachineResponse,
  FindDriftResponse,
  GetNodeTemplateRequest,
  GetNodeTemplateResponse,
  GetVolumeIdsRequest,
  GetVolumeIdsResponse,
  InitializeMachineResponse,
  ListMachinesRequest,
  ListMachinesResponse,
  MachineRequest,
  MachineStatusResponse,
  PendingResponse,
} from "./messages.ts";
import type { NodeIdentity, NodeMatch, VmIdentity } from "./node-match.ts";
import type { StandardSchemaV1 } from "./standard-schema.ts";

/** The version of the driver contract that this package describes. A host refuses drivers of another version. */
export const driverContractVersion = 1;

/** How much a log line matters. */
export type DriverLogLevel = "debug" | "info" | "warn" | "error";

/** What a driver gets with each call, besides the request. */
export interface DriverContext {
  /**
   * Aborted when the call's deadline has passed or the process stops. Hand it to everything that waits. What was begun may
   * go on in the cloud: the next call must find it.
   */
  readonly signal: AbortSignal;
  /** The only source of time. */
  readonly clock: Clock;
  /**
   * Milliseconds until the deadline of the call, by `clock`. What would take longer need not begin: the call may fail at once, with `retryAfterMs`. Absent: the call has five minutes from
   * its start.
   */
  readonly remainingMs?: () => number;
  /**
   * Writes a log line: a constant message, and what varies in `fields`. Values of `Secret` come out redacted. The host adds
   * the machine, the class, the driver and the method.
   */
  log(level: DriverLogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /**
   * Takes note of a request to the cloud that has ended, for metrics. Absent where nobody counts. Never throws. A host gives all calls the same function, so that a driver
   * whose requests serve several calls at once may report them with the one that it got last.
   */
  readonly reportApiCall?: (call: ApiCall) => void;
  /**
   * Takes a request over HTTP with its answer, tokens and secrets included, for a recording from which they are removed. Absent where nothing is recorded, which is the rule: put an exchange
   * together only where it is there. Never throws or waits. A host gives all calls the same function.
   */
  readonly recordExchange?: (exchange: CloudExchange) => void;
}

/** Which optional parts of the contract a driver has; derived by `defineDriver` from the methods that are there. */
export interface DriverCapabilities {
  /** `listMachines` exists: VMs without a machine can be found. */
  readonly listMachines: boolean;
  /** `initializeMachine` exists. */
  readonly initializeMachine: boolean;
  /** `getVolumeIds` was given: a drain can wait until volumes are detached. */
  readonly volumeIds: boolean;
  /** `findDrift` exists: VMs that were changed behind our back can be told. */
  readonly drift: boolean;
  /** `getNodeTemplate` exists: scaling from zero works without a `nodeTemplate` in the class. */
  readonly nodeTemplate: boolean;
  /** `checkClass` exists: `millwright doctor` can check a class against the cloud. */
  readonly classChecks: boolean;
}

/**
 * The contract between Millwright and the driver of one infrastructure. Build one with `defineDriver`.
 *
 * Rules for every method:
 *
 * 1. **One VM per machine.** The mapping from machine to VM is unique and can be found again from the machine's identity
 *    alone, before any provider id is stored and after a crash: tag the VM in the same request that creates it.
 * 2. **Any call may come again**, at once, after a crash, or while its predecessor still runs in the cloud. The outcome is
 *    that of one call.
 * 3. **Only our own VMs.** List only, and touch only, VMs that carry the tags of this cluster. A collector of VMs without
 *    a machine, such as MCM's safety controller, deletes whatever is listed and has none.
 * 4. **Fail with `MachineError`.** Its code decides what happens next (see `machineErrorCodes`). Anything else that is thrown counts
 *    as a fault of the driver.
 * 5. **Honour the signal** within two seconds. Requests wait in the driver for the rate that the cloud grants, and are repeated twice at most. Beyond that the controller retries,
 *    with backoff, and shows why.
 * 6. **Hold no state** that a restart would lose, and no client that outlives a change of the secret.
 */
export interface Driver<Spec = unknown> {
  /** The name that `MachineClass.provider` selects it by, ignoring case. For example `mock`. */
  readonly name: string;
  readonly contractVersion: typeof driverContractVersion;
  readonly capabilities: DriverCapabilities;
  /** Reads `MachineClass.providerSpec`: refuses what cannot work, with the path of the field, and fills in defaults. Makes no calls. */
  readonly spec: StandardSchemaV1<unknown, Spec>;
  /**
   * Checks the keys of the class secret, given as an object of plain strings. Only the schema sees the values; its messages must not
   * repeat them. Without it any secret is accepted.
   */
  readonly secret?: StandardSchemaV1<unknown, unknown>;

  /**
   * Makes the VM of a machine and returns as soon as the cloud has accepted it; it need not have booted.
   *
   * An infrastructure that cannot say yet which VM it will be, or whether it will be one, answers `pending`. It is called again after the given time with the same idempotency token, also
   * by another process, until the answer is a VM or an error. That counts neither as a failure nor as a creation under way: other machines of the class are created meanwhile. The creation timeout of the machine
   * counts from the creation of its object: a VM that is still pending then makes the machine Failed, and `deleteMachine` gets to undo it.
   *
   * A VM of this machine that is there already (same name, or same idempotency token) is the answer when it was made from the same spec, and
   * `AlreadyExists` otherwise. A VM that failed half-way is cleaned up here, or left so that `deleteMachine` finds it.
   *
   * Errors: `ResourceExhausted` for quota and capacity, `InvalidArgument` for what the cloud refuses about the spec, `Unavailable` for
   * throttling (with `retryAfterMs`).
   */
  createMachine(
    request: CreateMachineRequest<Spec>,
    context: DriverContext,
  ): Promise<CreateMachineResponse | PendingResponse>;

  /**
   * Removes the VM of a machine and everything that was made for it; volumes that were attached later are kept.
   *
   * Resolves only when the VM can no longer run a kubelet, or its node would register again after the controller has removed it. That
   * there is no VM counts as success. Works with and without `providerId`, and while the VM is still being created. A VM without our tags is
   * left alone and answered with `PermissionDenied`.
   *
   * A deletion that takes minutes answers `pending` and is called again after the given time, until the answer is that the VM is gone. Where waiting takes longer than the deadline of a call,
   * abort with `DeadlineExceeded`: the next call goes on where this one stopped.
   */
  deleteMachine(
    request: MachineRequest<Spec>,
    context: DriverContext,
  ): Promise<DeleteMachineResponse | PendingResponse>;

  /**
   * Finds the VM of a machine. Called before every creation, so it must find a VM whose provider id was never stored. A VM that is found counts as created: while `createMachine` answers
   * `pending`, answer `NotFound`.
   *
   * Errors: `NotFound` when there is none, or none that is not terminating; `OutOfRange` when there are several, with their ids.
   */
  getMachineStatus(request: MachineRequest<Spec>, context: DriverContext): Promise<MachineStatusResponse>;

  /**
   * Whether a Node is that of a VM. The cloud controller manager, not the driver, sets `Node.spec.providerID`, in a form of its own and some time after the
   * kubelet has registered. Answer `same` or `different` only where the facts prove it; `unknown` lets the name decide. Pure and synchronous: makes no calls, and never throws.
   *
   * Left out: `matchNodeByProviderId`, which compares the scheme and the last path segment of the two ids.
   */
  matchNode?(vm: VmIdentity, node: NodeIdentity): NodeMatch;

  /** Translates persistent volumes into the ids by which nodes report them as attached. Makes no calls. */
  getVolumeIds(request: GetVolumeIdsRequest, context: DriverContext): Promise<GetVolumeIdsResponse>;

  /**
   * Lists all VMs of this cluster and class scope, including those that are still being created and without those that are gone.
   * All or an error: a list that was cut short would let a VM leak.
   *
   * A listed VM whose UID no machine has is an orphan only if no machine's `spec.providerID` names it either: a machine that was made anew from a backup has a new UID, and its VM the old one.
   */
  listMachines?(request: ListMachinesRequest<Spec>, context: DriverContext): Promise<ListMachinesResponse>;

  /**
   * Does what can only be done once the VM exists, such as switching off a source check. Called after `createMachine`, and again
   * whenever `getMachineStatus` answers `initialized: false`.
   *
   * Errors: `NotFound` when the VM is gone, `Unavailable` when it cannot be seen yet.
   */
  initializeMachine?(request: MachineRequest<Spec>, context: DriverContext): Promise<InitializeMachineResponse>;

  /**
   * Compares the VM of a machine with what its class asks for, and changes nothing. Reports only what it has seen to differ: right after a creation from the
   * same class the answer is empty, and what a cloud does not tell is no difference.
   *
   * Errors: as `getMachineStatus`.
   */
  findDrift?(request: MachineRequest<Spec>, context: DriverContext): Promise<FindDriftResponse>;

  /**
   * Asks the cloud what a node of a class will have, for the autoscaler where the class has no `nodeTemplate`. The answer is that of the cloud's catalogue: what the
   * system keeps for itself is not taken off.
   *
   * Errors: `InvalidArgument` when the cloud does not know what the class names.
   */
  getNodeTemplate?(request: GetNodeTemplateRequest<Spec>, context: DriverContext): Promise<GetNodeTemplateResponse>;

  /**
   * Checks whether machines of a class could be created, and changes nothing: credentials, rights, quota, and everything that the class names. Reports problems as checks; a check
   * that fails does not keep the others from running. `runChecks` of the driver kit does this.
   *
   * Errors: only when nothing could be checked.
   */
  checkClass?(request: CheckClassRequest<Spec>, context: DriverContext): Promise<CheckClassResponse>;
}
