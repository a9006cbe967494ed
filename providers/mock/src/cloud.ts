import type { CloudOperation } from "./cloud-operation.ts";
import type { Fault, FaultRule } from "./fault.ts";
import type { MachineTypeName } from "./machine-type.ts";
import type { Vm, VmState } from "./vm.ts";

/** What every call takes. */
export interface CallOptions {
  /** Ends the call with the signal's reason. What the cloud has accepted by then stays accepted. */
  readonly signal?: AbortSignal;
}

/** What a VM is made from. */
export interface CreateVmInput {
  readonly name: string;
  /**
   * The same token and the same input give the same VM; the same token and another input fail with `AlreadyExists`. The user data does not count as input.
   * A token is free again when its VM is terminated.
   */
  readonly token: string;
  readonly machineType: MachineTypeName;
  readonly region: string;
  readonly zone: string;
  readonly image: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
  /** At most 256 KiB. */
  readonly userData?: Uint8Array;
  /** How long this VM boots, in milliseconds; the cloud's own delay by default. */
  readonly bootDelayMs?: number;
}

/** Which VMs to list; all conditions must hold. */
export interface VmFilter {
  /** Tags that a VM must have. */
  readonly tags?: Readonly<Record<string, string>>;
  /** States to list; all but `terminated` by default. */
  readonly states?: readonly VmState[];
}

/** What can be done to a VM by hand. */
export const powerActions = ["stop", "start", "kill", "reclaim"] as const;

/**
 * `stop` shuts a VM down and keeps it, `start` boots it again, `kill` ends it at once without a shutdown, as a failing host does;
 * `reclaim` takes it away like a spot VM: with a shutdown, and without its owner asking.
 */
export type PowerAction = (typeof powerActions)[number];

/** A place in the stream of changes. Empty at first. */
export interface ChangeCursor {
  /** Which life of the cloud the revision belongs to: another one when it started without its data. */
  readonly epoch?: string;
  readonly revision?: number;
}

/** The VMs that changed since a cursor. */
export interface VmChanges {
  readonly cursor: { readonly epoch: string; readonly revision: number };
  /** True when `vms` is everything there is, and what it lacks is gone: at first, or when the cursor was too old. */
  readonly reset: boolean;
  /** The changed VMs in the order of their changes, also those that are now `terminated`. */
  readonly vms: readonly Vm[];
}

/**
 * The simulated cloud as its users see it: the same in process (`createSimulatedCloud`) and over HTTP (`createCloudClient`). Every call fails with `CloudError`:
 * `NotFound`, `AlreadyExists`, `ResourceExhausted` (quota), `InvalidArgument`, or what a fault asks for; `Unavailable` when the cloud is unreachable.
 *
 * A `ref` is the id, the provider id or the name of a VM. A name fits VMs that are not terminated, and must fit one (`OutOfRange`).
 */
export interface MockCloud {
  /** Accepts a VM, which then boots. Returns at once. */
  createVm(input: CreateVmInput, options?: CallOptions): Promise<Vm>;
  /** A VM, also one that is terminated as long as the cloud remembers it (a minute). */
  getVm(ref: string, options?: CallOptions): Promise<Vm>;
  /** The VMs that match, oldest first. */
  listVms(filter?: VmFilter, options?: CallOptions): Promise<readonly Vm[]>;
  /** Begins to terminate a VM and returns at once; for one that is terminated already, does nothing. */
  deleteVm(ref: string, options?: CallOptions): Promise<Vm>;
  /** Sets tags; others stay. */
  tagVm(ref: string, tags: Readonly<Record<string, string>>, options?: CallOptions): Promise<Vm>;
  /** Does something to a VM by hand. `FailedPrecondition` when its state does not allow that. */
  powerVm(ref: string, action: PowerAction, options?: CallOptions): Promise<Vm>;
  /** The user data, byte for byte. */
  readUserData(ref: string, options?: CallOptions): Promise<Uint8Array>;
  /** What changed since a cursor; waits up to `waitMs` (at most 30 s) for something to change, then answers with an empty list. */
  changes(since: ChangeCursor, options?: CallOptions & { readonly waitMs?: number }): Promise<VmChanges>;

  /** Makes calls fail. */
  addFault(rule: FaultRule, options?: CallOptions): Promise<Fault>;
  /** The faults that still have something to do. */
  listFaults(options?: CallOptions): Promise<readonly Fault[]>;
  /** Takes all faults away. */
  clearFaults(options?: CallOptions): Promise<void>;
  /** How often each operation was called since the cloud started. */
  countCalls(options?: CallOptions): Promise<Readonly<Record<CloudOperation, number>>>;
}
