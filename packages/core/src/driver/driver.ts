import type { Clock } from "@millwright/base";
import type { ApiCall } from "./api-call.ts";
import type { CloudExchange } from "./cloud-exchange.ts";
import type { DeclaredContractVersion } from "./contract-version.ts";
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

/** How much a log line matters. */
export type DriverLogLevel = "debug" | "info" | "warn" | "error";

/** What a driver gets with each call, besides the request. */
export interface DriverContext {
  /**
   * Aborted when the call's deadline has passed or the process stops. Pass it to everything that waits. Operations that were started may
   * continue in the cloud: the next call must find them.
   */
  readonly signal: AbortSignal;
  /** The only source of time. */
  readonly clock: Clock;
  /**
   * Milliseconds until the deadline of the call, by `clock`. A call that would take longer may fail at once, with `retryAfterMs`. Absent: five minutes from the start of
   * the call.
   */
  readonly remainingMs?: () => number;
  /**
   * Writes a log line: a constant message, and variable parts in `fields`. Values of `Secret` are redacted. The host adds
   * the machine, the class, the driver and the method.
   */
  log(level: DriverLogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /**
   * Records a completed request to the cloud for metrics. Absent without metrics. Never throws. A host passes the same function to all calls, so a driver
   * whose requests serve several calls may report them to any of these.
   */
  readonly reportApiCall?: (call: ApiCall) => void;
  /**
   * Records an HTTP request and its response, including tokens and secrets, which the recording removes. Normally absent: build an exchange
   * only if it is present. Never throws or waits. A host passes the same function to all calls.
   */
  readonly recordExchange?: (exchange: CloudExchange) => void;
}

/** The optional parts of the contract that a driver implements; derived by `defineDriver` from its methods. */
export interface DriverCapabilities {
  /** `listMachines` exists: VMs without a machine can be found. */
  readonly listMachines: boolean;
  /** `initializeMachine` exists. */
  readonly initializeMachine: boolean;
  /** `getVolumeIds` was given: a drain can wait until volumes are detached. */
  readonly volumeIds: boolean;
  /** `findDrift` exists: VMs that differ from their class can be found. */
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
 * 2. **Every call is idempotent**: it may be repeated at once, after a crash, or while the previous one still runs in the cloud. The outcome is
 *    that of one call.
 * 3. **Only our own VMs.** List only, and touch only, VMs that carry the tags of this cluster. A collector of VMs without
 *    a machine, such as MCM's safety controller, deletes whatever is listed and has none.
 * 4. **Fail with `MachineError`.** Its code decides what happens next (see `machineErrorCodes`). Any other error counts
 *    as a bug of the driver.
 * 5. **React to the abort signal** within two seconds. The driver limits requests to the rate that the cloud grants and retries each at most twice. After that the controller retries
 *    with backoff and reports why.
 * 6. **Keep no state** that a restart would lose, and no client that outlives a change of the secret.
 */
export interface Driver<Spec = unknown> {
  /** The name that `MachineClass.provider` selects it by, ignoring case. For example `mock`. */
  readonly name: string;
  /** The versions of this contract that the driver can be called by. A host rejects a driver that shares none with it (`negotiateContractVersion`). */
  readonly contractVersion: DeclaredContractVersion;
  readonly capabilities: DriverCapabilities;
  /** Reads `MachineClass.providerSpec`: rejects invalid fields with their path and fills in defaults. Makes no calls. */
  readonly spec: StandardSchemaV1<unknown, Spec>;
  /**
   * Reads `MachineClass.providerSpec` for `deleteMachine` and `getMachineStatus` where `spec` rejects it: the class may have been changed since the VM was created, or have been written for a driver
   * that reads it less strictly. Requires only what these methods need to find the VM, such as region, zone, project and tags, and fills in anything for the rest.
   *
   * Left out: `spec` reads it without the fields that it does not know (those that Zod reports in `keys`, or Valibot as `never`).
   */
  readonly vmSpec?: StandardSchemaV1<unknown, Spec>;
  /**
   * Checks the keys of the class secret, given as an object of plain strings. Only the schema sees the values; its messages must not
   * repeat them. Without it any secret is accepted.
   */
  readonly secret?: StandardSchemaV1<unknown, unknown>;

  /**
   * Creates the VM of a machine and returns as soon as the cloud has accepted it; it need not have booted.
   *
   * A driver that does not know yet which VM it will be, or whether there will be one, returns `pending`. It is called again after the given time with the same idempotency token, also
   * by another process, until it returns a VM or an error. A pending creation is neither a failure nor does it count against the limit of concurrent creations. The creation timeout of the machine
   * counts from the creation of its object: if the VM is still pending then, the machine is Failed and `deleteMachine` removes the VM.
   *
   * If a VM of this machine exists (same name, or same idempotency token), return it when it was created from the same spec, and fail with
   * `AlreadyExists` otherwise. A partially created VM is cleaned up here, or left so that `deleteMachine` finds it.
   *
   * Errors: `ResourceExhausted` for quota and capacity, `InvalidArgument` when the cloud rejects the spec, `Unavailable` for
   * throttling (with `retryAfterMs`).
   */
  createMachine(
    request: CreateMachineRequest<Spec>,
    context: DriverContext,
  ): Promise<CreateMachineResponse | PendingResponse>;

  /**
   * Deletes the VM of a machine and everything that was created for it; volumes that were attached later are kept.
   *
   * Resolves only when the VM can no longer run a kubelet; otherwise its node would register again after the controller has deleted it. A missing
   * VM counts as success. Works with and without `providerId`, and while the VM is still being created. A VM without our tags is
   * kept: the call fails with `PermissionDenied`.
   *
   * A deletion that takes minutes returns `pending` and is called again after the given time, until the VM is deleted. If waiting takes longer than the deadline of a call,
   * fail with `DeadlineExceeded`: the next call continues where this one stopped.
   */
  deleteMachine(
    request: MachineRequest<Spec>,
    context: DriverContext,
  ): Promise<DeleteMachineResponse | PendingResponse>;

  /**
   * Finds the VM of a machine. Called before every creation, so it must find a VM whose provider id was never stored. A VM that is found counts as created: while `createMachine` returns
   * `pending`, fail with `NotFound`.
   *
   * Errors: `NotFound` when there is no VM, or only terminating ones; `OutOfRange` when there are several, with their ids.
   */
  getMachineStatus(request: MachineRequest<Spec>, context: DriverContext): Promise<MachineStatusResponse>;

  /**
   * Whether a Node is that of a VM. The cloud controller manager, not the driver, sets `Node.spec.providerID`, in its own form and some time after the
   * kubelet has registered. Return `same` or `different` only if it is certain; `unknown` lets the name decide. Pure and synchronous: makes no calls, and never throws.
   *
   * Left out: `matchNodeByProviderId`, which compares the scheme and the last path segment of the two ids.
   */
  matchNode?(vm: VmIdentity, node: NodeIdentity): NodeMatch;

  /**
   * The same rule as data, for a driver in a process of its own: forms of the provider ids of Machines and Nodes; see `matchNodeByTemplates`. It is used where `matchNode` is left out, and where that
   * cannot be called because the driver runs elsewhere. A driver that has `matchNode` alone is then not asked: only equal ids prove something, and otherwise the name decides.
   */
  readonly providerIdTemplates?: readonly string[];

  /** Translates persistent volumes into the ids by which nodes report them as attached. Makes no calls. */
  getVolumeIds(request: GetVolumeIdsRequest, context: DriverContext): Promise<GetVolumeIdsResponse>;

  /**
   * Lists all VMs of this cluster and class scope, including those that are still being created, without deleted ones.
   * The list is complete or the call fails: an incomplete list would leak VMs.
   *
   * A listed VM whose UID no machine has is an orphan only if no machine's `spec.providerID` names it either: a machine that was restored from a backup has a new UID, and its VM the old one.
   */
  listMachines?(request: ListMachinesRequest<Spec>, context: DriverContext): Promise<ListMachinesResponse>;

  /**
   * Completes steps that need an existing VM, such as disabling a source check. Called after `createMachine`, and again
   * whenever `getMachineStatus` returns `initialized: false`.
   *
   * Errors: `NotFound` when the VM does not exist, `Unavailable` when it is not visible yet.
   */
  initializeMachine?(request: MachineRequest<Spec>, context: DriverContext): Promise<InitializeMachineResponse>;

  /**
   * Compares the VM of a machine with its class, and changes nothing. Reports only observed differences: right after a creation from the
   * same class there are none, and a field that the cloud does not return is not a difference.
   *
   * Errors: as `getMachineStatus`.
   */
  findDrift?(request: MachineRequest<Spec>, context: DriverContext): Promise<FindDriftResponse>;

  /**
   * Reads the capacity of a node of a class from the cloud, for the autoscaler if the class has no `nodeTemplate`. It is the capacity of the cloud's catalog: system
   * reservations are not subtracted.
   *
   * Errors: `InvalidArgument` when the cloud does not know what the class names.
   */
  getNodeTemplate?(request: GetNodeTemplateRequest<Spec>, context: DriverContext): Promise<GetNodeTemplateResponse>;

  /**
   * Checks whether machines of a class can be created, and changes nothing: credentials, permissions, quota, and everything that the class names. Reports problems as checks; a failed
   * check does not prevent the others. `runChecks` of the driver kit does this.
   *
   * Errors: only when nothing could be checked.
   */
  checkClass?(request: CheckClassRequest<Spec>, context: DriverContext): Promise<CheckClassResponse>;
}
