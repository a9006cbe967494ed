import { type Clock, ConfigError, type Random, systemRandom } from "@millwright/core";
import { CloudError } from "./cloud-error.ts";
import { type CloudCall, createCallGate } from "./call-gate.ts";
import type { MockCloud, PowerAction } from "./cloud.ts";
import { createFaultSet } from "./fault.ts";
import { newVmRecord, readCreateVmInput } from "./new-vm.ts";
import { applyPower } from "./power.ts";
import { type CloudSnapshot, cloudSnapshotSchema, type VmRecord } from "./vm-record.ts";
import { createVmStore, type VmStore } from "./vm-store.ts";
import { type Vm, isLive } from "./vm.ts";

/** Finds the VM that a ref (id, provider id or name) means; fails with `NotFound`, or `OutOfRange` for a name that fits several. */
function findRecord(store: VmStore, ref: string): VmRecord {
  const exact = store.get(ref) ?? store.index.withProviderId(ref);
  if (exact !== undefined) return exact;
  const named = store.index.withName(ref).filter(({ vm }) => vm.state !== "terminated");
  const [first] = named;
  if (first === undefined) throw new CloudError("NotFound", `there is no VM "${ref.slice(0, 300)}"`);
  if (named.length > 1) {
    const ids = named.map(({ vm }) => vm.id).toSorted();
    throw new CloudError("OutOfRange", `several VMs are called "${ref}": ${ids.join(", ")}`);
  }
  return first;
}

/** Options of {@link createSimulatedCloud}. Times are in milliseconds. */
export interface SimulatedCloudOptions {
  readonly clock: Clock;
  readonly random?: Random;
  /** From acceptance to `running`; 2000 by default. A VM may be created with its own. */
  readonly bootDelayMs?: number;
  /** How long a VM takes to be gone once its deletion was accepted; 1000 by default. */
  readonly deleteDelayMs?: number;
  /** How long a VM takes to stop; 500 by default. */
  readonly shutdownDelayMs?: number;
  /** How long every call takes; 0 by default. */
  readonly latencyMs?: number;
  /** Quota: how many VMs may exist that are not terminated; no limit by default. */
  readonly maxVms?: number;
  /** How long terminated VMs can still be seen; 60 000 by default. */
  readonly retentionMs?: number;
  /** A state to go on from, as {@link SimulatedCloud.snapshot} gave it; checked here. */
  readonly snapshot?: unknown;
}

/** A simulated cloud in this process. */
export interface SimulatedCloud extends MockCloud {
  /** All VMs that are not terminated, without a call: no latency, no faults, not counted. */
  vms(): readonly Vm[];
  /** Every call so far, oldest first; the last 10 000. */
  readonly calls: readonly CloudCall[];
  /** Calls the listener with every changed VM, in the order of the changes. It must not throw. Returns how to stop that. */
  subscribe(listener: (vm: Vm) => void): () => void;
  /** The whole state as plain JSON. */
  snapshot(): CloudSnapshot;
  /** Stops time for all VMs and ends the calls that wait. */
  close(): void;
}

const longestWaitMs = 30_000;

/**
 * Creates a simulated cloud: VMs that boot, run and go, with latency, a quota and faults on demand. All time comes from the clock. Its timers keep the
 * process alive until {@link SimulatedCloud.close}.
 *
 * Throws `ConfigError` for a snapshot that it cannot read.
 */
export function createSimulatedCloud(options: SimulatedCloudOptions): SimulatedCloud {
  const { clock, random = systemRandom, bootDelayMs = 2000, maxVms = Number.POSITIVE_INFINITY } = options;
  const stored = options.snapshot === undefined ? undefined : readSnapshot(options.snapshot);
  const epoch = stored?.epoch ?? random.hex(6);
  const store = createVmStore({
    clock,
    timings: {
      deleteDelayMs: options.deleteDelayMs ?? 1000,
      shutdownDelayMs: options.shutdownDelayMs ?? 500,
      retentionMs: options.retentionMs ?? 60_000,
    },
    epoch,
    revision: stored?.revision ?? 0,
    records: (stored?.vms ?? []).map((row) => ({
      ...row,
      userData: Uint8Array.from(Buffer.from(row.userData, "base64")),
    })),
  });
  const faults = createFaultSet(random);
  const closing = new AbortController();
  const gate = createCallGate({ clock, faults, latencyMs: options.latencyMs ?? 0 });
  const subjectsOf = (ref: string): readonly string[] => {
    const record = store.get(ref) ?? store.index.withProviderId(ref) ?? store.index.withName(ref)[0];
    return record === undefined ? [ref] : [record.vm.id, record.vm.providerId, record.vm.name];
  };

  return {
    createVm: (input, call) =>
      gate.run("create", [input.name], call, () => {
        const wanted = readCreateVmInput(input, bootDelayMs);
        const twin = store.index.withToken(input.token).find(({ vm }) => vm.state !== "terminated");
        if (twin !== undefined) {
          if (twin.fingerprint === wanted.fingerprint) return twin.vm;
          throw new CloudError(
            "AlreadyExists",
            `token of VM "${input.name}" was used for ${twin.vm.id} with another input`,
          );
        }
        if (store.index.existing >= maxVms) {
          throw new CloudError("ResourceExhausted", `quota of ${maxVms} VMs is used up`);
        }
        return store.add(
          newVmRecord(wanted, { id: `i-${random.hex(6)}`, createdAt: clock.now(), ordinal: store.revision() }),
        );
      }),
    getVm: (ref, call) => gate.run("get", subjectsOf(ref), call, () => findRecord(store, ref).vm),
    listVms: (filter = {}, call) =>
      gate.run("list", [], call, () =>
        store.index
          .withTags(filter.tags ?? {})
          .map(({ vm }) => vm)
          .filter((vm) => (filter.states === undefined ? vm.state !== "terminated" : filter.states.includes(vm.state))),
      ),
    deleteVm: (ref, call) =>
      gate.run("delete", subjectsOf(ref), call, () => {
        const { vm } = findRecord(store, ref);
        return isLive(vm) ? store.change(vm.id, { state: "terminating", stateReason: "deleted" }) : vm;
      }),
    tagVm: (ref, tags, call) =>
      gate.run("tag", subjectsOf(ref), call, () => {
        const { vm } = findRecord(store, ref);
        if (!isLive(vm)) throw new CloudError("FailedPrecondition", `VM ${vm.id} is ${vm.state} and takes no tags`);
        return store.change(vm.id, { tags: { ...vm.tags, ...tags } });
      }),
    powerVm: (ref, action: PowerAction, call) =>
      gate.run("power", subjectsOf(ref), call, () => {
        const { vm } = findRecord(store, ref);
        const change = applyPower(vm, action);
        return change === "nothing to do" ? vm : store.change(vm.id, change);
      }),
    readUserData: (ref, call) =>
      gate.run("userData", subjectsOf(ref), call, () => Uint8Array.from(findRecord(store, ref).userData)),
    changes: async (since, call = {}) => {
      await gate.run("changes", [], call, () => undefined);
      const known = store.changesSince(since);
      const waitMs = Math.min(call.waitMs ?? 0, longestWaitMs);
      if (known.reset || known.vms.length > 0 || !(waitMs > 0)) return known;
      await untilChange(waitMs, [closing.signal, ...(call.signal === undefined ? [] : [call.signal])]);
      call.signal?.throwIfAborted();
      return store.changesSince(since);
    },
    addFault: (rule) => Promise.resolve().then(() => faults.add(rule)),
    listFaults: () => Promise.resolve(faults.list()),
    clearFaults: () => Promise.resolve(faults.clear()),
    countCalls: () => Promise.resolve(gate.counts()),

    vms: () =>
      store
        .records()
        .map(({ vm }) => vm)
        .filter((vm) => vm.state !== "terminated"),
    calls: gate.calls,
    subscribe: (listener) => store.subscribe(listener),
    snapshot: () => ({
      version: 1,
      epoch,
      revision: store.revision(),
      vms: store.records().map(({ userData, vm, ...rest }) => ({
        ...rest,
        vm: structuredClone(vm),
        userData: Buffer.from(userData).toString("base64"),
      })),
    }),
    close: () => {
      closing.abort();
      store.close();
    },
  };

  /** Resolves at the next change, when the time is up, or when one of the signals is aborted. */
  function untilChange(waitMs: number, signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        unsubscribe();
        for (const signal of signals) signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = clock.setTimer(waitMs, done);
      const unsubscribe = store.subscribe(done);
      for (const signal of signals) signal.addEventListener("abort", done, { once: true });
      if (signals.some((signal) => signal.aborted)) done();
    });
  }
}

function readSnapshot(value: unknown): CloudSnapshot {
  const parsed = cloudSnapshotSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ConfigError(
    `stored state of the simulated cloud cannot be read: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "unknown"}; delete the file to start again`,
  );
}
