import type { Clock, Timer } from "@millwright/core";
import type { ChangeCursor, VmChanges } from "./cloud.ts";
import { type VmRecord, type VmTimings, nextStates, stayMs } from "./vm-record.ts";
import { createVmIndex, type VmIndex } from "./vm-index.ts";
import type { Vm } from "./vm.ts";

/** Options of {@link createVmStore}. */
export interface VmStoreOptions {
  readonly clock: Clock;
  readonly timings: VmTimings;
  /** Id of this store; a cursor of another one starts again. */
  readonly epoch: string;
  /** The revision to go on from. */
  readonly revision: number;
  readonly records: readonly VmRecord[];
}

/** The VMs of a cloud, moving through their states as time passes. */
export interface VmStore {
  records(): readonly VmRecord[];
  get(id: string): VmRecord | undefined;
  readonly index: Omit<VmIndex, "put" | "delete">;
  /** Adds a VM in its first state. */
  add(record: VmRecord): Vm;
  /** Changes a VM; a new state starts its stay. */
  change(id: string, change: Partial<Pick<Vm, "state" | "stateReason" | "tags" | "volumes">>): Vm;
  revision(): number;
  /** What changed since a cursor, without waiting. */
  changesSince(cursor: ChangeCursor): VmChanges;
  /** Calls the listener with every changed VM, within the change. Returns how to stop that. */
  subscribe(listener: (vm: Vm) => void): () => void;
  /** Stops time for all VMs. */
  close(): void;
}

/** Creates a store. Overdue moves of stored VMs happen on the next turn. */
export function createVmStore(options: VmStoreOptions): VmStore {
  const { clock, timings, epoch } = options;
  const records = new Map(options.records.map((record) => [record.vm.id, record]));
  const index = createVmIndex(records);
  // Exactly the records that have a due time have a timer.
  const timers = new Map<string, Timer>();
  const listeners = new Set<(vm: Vm) => void>();
  let revision = options.revision;
  // The highest revision that a forgotten VM had: a cursor below it would miss that the VM is gone.
  let forgottenRevision = options.revision;

  const schedule = (id: string, dueAtMs: number | undefined): void => {
    timers.get(id)?.cancel();
    timers.delete(id);
    if (dueAtMs === undefined) return;
    timers.set(
      id,
      clock.setTimer(dueAtMs - clock.now().getTime(), () => move(id)),
    );
  };

  const put = (record: VmRecord): Vm => {
    revision++;
    const vm = Object.freeze({ ...record.vm, revision });
    index.put({ ...record, vm });
    schedule(vm.id, record.dueAtMs);
    for (const listener of listeners) listener(vm);
    return vm;
  };

  const dueIn = (vm: Vm): number | undefined => {
    const stay = stayMs(vm, timings);
    return Number.isFinite(stay) ? clock.now().getTime() + stay : undefined;
  };

  const change: VmStore["change"] = (id, change) => {
    const record = records.get(id);
    if (record === undefined) throw new Error(`VM ${id} is not in the store`);
    const vm = { ...record.vm, ...change };
    return put({ ...record, vm, dueAtMs: vm.state === record.vm.state ? record.dueAtMs : dueIn(vm) });
  };

  const move = (id: string): void => {
    const vm = records.get(id)?.vm;
    const next = vm && nextStates[vm.state];
    if (vm === undefined || next === undefined) return;
    if (next.state === "forgotten") {
      schedule(id, undefined);
      index.delete(id);
      forgottenRevision = Math.max(forgottenRevision, vm.revision);
    } else {
      change(id, { state: next.state, stateReason: next.reason ?? vm.stateReason });
    }
  };

  for (const record of options.records) schedule(record.vm.id, record.dueAtMs);

  return {
    records: () => [...records.values()],
    get: (id) => records.get(id),
    index,
    add: (record) => put({ ...record, dueAtMs: dueIn(record.vm) }),
    change,
    revision: () => revision,
    changesSince: (cursor) => {
      const since = cursor.epoch === epoch ? cursor.revision : undefined;
      const reset = since === undefined || since > revision || since < forgottenRevision;
      const vms = [...records.values()].map((record) => record.vm).filter((vm) => reset || vm.revision > since);
      return { cursor: { epoch, revision }, reset, vms: vms.toSorted((a, b) => a.revision - b.revision) };
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
    },
  };
}
