import type { Secret, SecretData } from "@millwright/base";
import type { ListedMachine, MachineError } from "@millwright/core";
import type { Machine, MachineClass } from "@millwright/core/machine-api";
import type { OperationResult, PendingOperation } from "./operation.ts";

/** Why machines of a class cannot be created. */
export interface ClassProblem {
  /** Stable reason in CamelCase. */
  readonly reason: string;
  /** One sentence that names object, field and what is expected. */
  readonly problem: string;
}

/** The objects of a driver call, from the caches. */
export interface VmCall {
  readonly machine: Machine;
  readonly machineClass: MachineClass;
  /** Data of `secretRef` overlaid with that of `credentialsSecretRef`. */
  readonly secret: SecretData;
}

/** The objects of a driver call about a class, from the caches. */
export type ClassCall = Pick<VmCall, "machineClass" | "secret">;

/** A call that may create a VM. */
export interface CreateVmCall extends VmCall {
  /** See `CreateMachineRequest.idempotencyToken`. */
  readonly idempotencyToken: string;
  /**
   * Creates the bootstrap token of the machine, or finds it; called only when a VM is created and its user data has the placeholder. Rejects with
   * `MachineError`. Absent without a target cluster: the placeholder is kept then.
   */
  readonly bootstrapToken?: () => Promise<Secret>;
}

/** A failure is a value here: errors of drivers are converted to `MachineError`. */
export type DriverOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly error: MachineError;
      /** The failure is not one of the driver, such as a bootstrap token that cannot be created: it shows nothing about the cloud or its credential. */
      readonly isOutsideDriver?: true;
    };

/** The outcome of a call whose operation may be pending. */
export type CallOutcome = DriverOutcome<OperationResult | PendingOperation>;

/**
 * The drivers as the machine controller uses them. The runtime implements it: it selects the driver by `MachineClass.provider`, reads the provider spec,
 * sets deadlines, and validates results.
 */
export interface MachineDriver {
  /** Finds the VM of the machine or creates it; the creation may be pending. `needsInitialization`: the VM must still be initialized. */
  ensureVm(call: CreateVmCall, signal: AbortSignal): Promise<CallOutcome>;
  /** Initializes the VM of the machine, whose id is stored; a no-op for drivers without such a step. */
  initializeVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Finds the VM of the machine. `needsInitialization` as in `ensureVm`. */
  findVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Deletes the VM of the machine; the deletion may be pending. Succeeds when the VM does not exist. */
  deleteVm(call: VmCall, signal: AbortSignal): Promise<CallOutcome>;
  /** Lists the VMs of a class: all of them, or it fails. */
  listVms(call: ClassCall, signal: AbortSignal): Promise<DriverOutcome<readonly ListedMachine[]>>;
  /**
   * The ids by which nodes report PersistentVolumes, one entry for each `spec` in the same order, `null` for a volume of another infrastructure; `Unimplemented`
   * when the driver does not support volumes.
   */
  volumeIds(
    call: VmCall,
    specs: readonly Readonly<Record<string, unknown>>[],
    signal: AbortSignal,
  ): Promise<DriverOutcome<readonly (string | null)[]>>;
  /** Why no driver can create machines of this class, as one sentence; `undefined` when one can. Makes no calls. */
  missingDriver(machineClass: MachineClass): string | undefined;
  /**
   * Why the driver of a class rejects its spec or its secret; `undefined` when it accepts both, or does not answer within seconds. Without a secret, only the
   * spec is checked. Makes no calls to a cloud.
   */
  rejectionOf(machineClass: MachineClass, secret: SecretData | undefined): Promise<ClassProblem | undefined>;
  /** Keys of the spec of a class that its driver ignores, as a text for people; empty for none, and for a driver that does not declare its keys. Makes no calls. */
  unknownKeysOf(machineClass: MachineClass): string;
}

/** The drivers as the list of VMs uses them. The runtime implements it. */
export interface VmListDriver extends Pick<MachineDriver, "missingDriver" | "listVms"> {
  /** Whether the driver of a class can list its VMs. Makes no calls. */
  listsVms(machineClass: MachineClass): boolean;
}
