import type { Machine, MachineClass, MachineError, Secret, SecretData } from "@millwright/core";
import type { OperationResult, PendingOperation } from "./operation.ts";

/** What a driver call is about, as the caches hold it. */
export interface VmCall {
  readonly machine: Machine;
  readonly machineClass: MachineClass;
  /** Data of `secretRef` overlaid with that of `credentialsSecretRef`. */
  readonly secret: SecretData;
}

/** A call that may make a VM. */
export interface CreateVmCall extends VmCall {
  /** See `CreateMachineRequest.idempotencyToken`. */
  readonly idempotencyToken: string;
  /**
   * Makes the bootstrap token of the machine, or finds it; asked only when a VM is really made and its user data has the placeholder. Rejects with
   * `MachineError`. Absent where there is no cluster to join: the placeholder stays then.
   */
  readonly bootstrapToken?: () => Promise<Secret>;
}

/** A failure is a value here: whatever a driver throws has become a `MachineError`. */
export type DriverOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: MachineError };

/**
 * The drivers as the machine controller sees them. The runtime implements it: it picks the driver by `MachineClass.provider`, reads the provider spec,
 * sets deadlines, and checks what comes back.
 */
export interface MachineDriver {
  /** Finds the VM of the machine or makes it, which may be pending. It may still have to be initialized: `needsInitialization` says so. */
  ensureVm(call: CreateVmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult | PendingOperation>>;
  /** Initializes the VM of the machine, whose id is stored; succeeds at once where the driver has no such step. */
  initializeVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Finds the VM of the machine. `needsInitialization` as in `ensureVm`. */
  findVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Deletes the VM of the machine, which may be pending; succeeds when there is none any more. */
  deleteVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult | PendingOperation>>;
  /**
   * The ids by which nodes report PersistentVolumes, one entry for each `spec` in the same order, `null` for a volume of another infrastructure; `Unimplemented`
   * where the driver knows nothing of volumes.
   */
  volumeIds(
    call: VmCall,
    specs: readonly Readonly<Record<string, unknown>>[],
    signal: AbortSignal,
  ): Promise<DriverOutcome<readonly (string | null)[]>>;
  /** Why no driver can make machines of this class, as one sentence; `undefined` when one can. Makes no calls. */
  refusalOf(machineClass: MachineClass): string | undefined;
}
