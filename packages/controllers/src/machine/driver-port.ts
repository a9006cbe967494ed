import type { Machine, MachineClass, MachineError, SecretData } from "@millwright/core";
import type { OperationResult } from "./operation.ts";

/** What a driver call is about, as the caches hold it. */
export interface VmCall {
  readonly machine: Machine;
  readonly machineClass: MachineClass;
  /** Data of `secretRef` overlaid with that of `credentialsSecretRef`. */
  readonly secret: SecretData;
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
  /** Finds the VM of the machine or makes it, and initializes it where the driver wants that. */
  ensureVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Finds the VM of the machine. */
  findVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Deletes the VM of the machine; succeeds when there is none any more. */
  deleteVm(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  /** Why no driver can make machines of this class, as one sentence; `undefined` when one can. Makes no calls. */
  refusalOf(machineClass: MachineClass): string | undefined;
}
