import type { Clock } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import { type Machine, type MachineClass, machineResource } from "@millwright/core/machine-api";
import { describeType } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import type { OwnerlessVms, VmCensus } from "../model/vm-census.ts";
import { markedStage } from "../model/phase.ts";
import type { VmLists } from "../vm-lists/vm-lists.ts";
import { findLackingMachine } from "./find-lacking-machine.ts";
import { isNameIn } from "./awaiting-person.ts";
import { findOrphans } from "./find-orphans.ts";

/** A list that takes longer than this, milliseconds, is not waited for: its cloud may be unreachable. */
const MAX_WAIT_MS = 60_000;

/** What waits is looked for at least this often, milliseconds. */
const FORGET_MS = 2 * MAX_WAIT_MS;

/** While the cache of machines is known to be incomplete, VMs are listed and compared again this often, milliseconds. */
const AGAIN_MS = 10_000;

/** Clouds list a VM so long after its creation at the latest, milliseconds. */
const SETTLED_MS = 60_000;

/** The last list of a class. */
interface LastList {
  /** By key of their id; without those that were deleted since. */
  readonly vms: Map<string, ListedMachine>;
  readonly startedMs: number;
  /** Whether it has the VMs of all machines of the class, and there are some: one with other credentials, or of another region, has none of them. */
  readonly hasKnown: boolean;
}

/** Whether the deletion of a machine had reached its VM, which no longer exists then. */
function isDeletedWithVm(machine: Machine): boolean {
  const stage = markedStage({ machine });
  return stage === "DeleteVm" || stage === "DeleteNode" || stage === "RemoveFinalizer";
}

/** What the census reads. */
export type CensusContext = Pick<ControllerContext, "caches" | "namespace" | "control"> & {
  readonly clock: Pick<Clock, "monotonicMs">;
};

/** What a census does about its lists. */
interface ListListeners {
  readonly onList: (className: string) => void;
  /** Called with a Machine that is not in the cache, but exists. */
  readonly onLacking: (className: string, machineName: string) => void;
  /** Called when a Machine went before its VM: no earlier list counts any more, of no class, since those of one account list the same VMs. */
  readonly onLost: () => void;
}

/** The lists of all classes, by name of the class, without those that show that the cache of machines is incomplete. */
function followLists(
  context: CensusContext,
  lists: Pick<VmLists, "onList">,
  { onList, onLacking, onLost }: ListListeners,
): ReadonlyMap<string, LastList> {
  const { caches } = context;
  const last = new Map<string, LastList>();
  lists.onList(async ({ machineClass, vms, startedMs, machines }, signal) => {
    const { name } = machineClass.metadata;
    const whole = vms.filter(({ parts }) => parts === undefined);
    const lacking = await findLackingMachine(context, whole, signal);
    if (lacking !== undefined) return onLacking(name, lacking);
    const byKey = new Map(whole.map((vm) => [providerIdKey(vm.providerId) ?? vm.providerId, vm]));
    const isListed = ({ spec }: Machine): boolean => byKey.has(providerIdKey(spec.providerID) ?? "");
    last.set(name, { vms: byKey, startedMs, hasKnown: machines.length > 0 && machines.every(isListed) });
    onList(name);
  });
  caches.machines.store.subscribe((old, current) => {
    if (current !== undefined || old === undefined) return;
    if (!isDeletedWithVm(old)) {
      // Its VM may be newer than the lists.
      last.clear();
      return onLost();
    }
    const key = providerIdKey(old.spec.providerID) ?? "";
    // Classes of one account list the same VMs.
    for (const { vms } of last.values()) vms.delete(key);
  });
  caches.classes.store.subscribe((old, current) => {
    if (old !== undefined && current?.metadata.uid !== old.metadata.uid) last.delete(old.metadata.name);
  });
  return last;
}

/** What waits for a list of its class: a large creation, or a set whose machines are missing. */
interface Waiting {
  readonly sinceMs: number;
  /** When it was looked for last: what is held is looked for again and again. */
  lastMs: number;
  hasFailed: boolean;
}

/** What waits for a class, or is new: what was not looked for in a while has ended. */
function waitFor(waits: Map<string, Waiting>, className: string, nowMs: number): Waiting {
  const known = waits.get(className);
  const wait =
    known === undefined || nowMs - known.lastMs > FORGET_MS
      ? { sinceMs: nowMs, lastMs: nowMs, hasFailed: false }
      : known;
  wait.lastMs = nowMs;
  waits.set(className, wait);
  return wait;
}

/** Makes the census of a namespace from the lists of its classes. */
export function createVmCensus(
  context: CensusContext,
  lists: Pick<VmLists, "onList" | "onFailure" | "request">,
  listsVms: (machineClass: MachineClass) => boolean,
): VmCensus {
  const { caches, namespace, control, clock } = context;
  const listeners: ((className: string) => void)[] = [];
  const waiting = new Map<string, Waiting>();
  /** Sets whose machines are missing. */
  const missing = new Map<string, Waiting>();
  const report = (className: string): void => {
    if (waiting.has(className) || missing.has(className)) for (const listener of listeners) listener(className);
  };
  /** By class: a Machine that exists, but is not in the cache. */
  const lacking = new Map<string, string>();
  const last = followLists(context, lists, {
    onList: (className) => {
      lacking.delete(className);
      report(className);
    },
    onLacking: (className, name) => {
      lacking.set(className, name);
      const found = `Machine ${namespace}/${name} exists, and is in no list`;
      control.history?.suspect({ kind: "incomplete list", resource: describeType(machineResource), found });
    },
    onLost: () => waiting.clear(),
  });
  lists.onFailure((className) => {
    const wait = waiting.get(className);
    if (wait !== undefined) wait.hasFailed = true;
    report(className);
  });

  /** A class whose VMs are listed. */
  const listedClass = (className: string): MachineClass | undefined => {
    const machineClass = caches.classes.store.getByRef({ namespace, name: className });
    return machineClass !== undefined && listsVms(machineClass) ? machineClass : undefined;
  };

  /** Whether a Machine exists that the cache lacks: until the cache has it, or a later list shows that it was deleted. Requests that list. */
  const isIncomplete = (machineClass: MachineClass): boolean => {
    const name = lacking.get(machineClass.metadata.name);
    if (name === undefined || caches.machines.store.getByRef({ namespace, name }) !== undefined) return false;
    lists.request(machineClass, AGAIN_MS);
    return true;
  };

  const ownerlessIn = ({ vms }: LastList): readonly ListedMachine[] =>
    findOrphans([...vms.values()], caches.machines.store.list(namespace), namespace);

  /** Counts VMs without Machine that matter, by the last list, or by a new one if so many may exist that it matters. */
  const count = (className: string, from: number, matters: (vm: ListedMachine) => boolean): OwnerlessVms => {
    const machineClass = listedClass(className);
    if (machineClass === undefined) return { state: "known", count: 0 };
    if (isIncomplete(machineClass)) return { state: "listing", forMs: AGAIN_MS };
    const list = last.get(className);
    const found = list === undefined ? undefined : ownerlessIn(list).filter(matters).length;
    // An ordinary creation needs no list.
    if (found !== undefined && found < from) return { state: "known", count: found };
    const wait = waitFor(waiting, className, clock.monotonicMs());
    const isFresh = list !== undefined && list.startedMs >= wait.sinceMs;
    const leftMs = wait.sinceMs + MAX_WAIT_MS - clock.monotonicMs();
    if (isFresh || wait.hasFailed || leftMs <= 0) return { state: "known", count: found ?? 0 };
    lists.request(machineClass, 0);
    return { state: "listing", forMs: leftMs };
  };

  return {
    ownerless: (className, from) => count(className, from, () => true),
    lostOf: (className, setName) => count(className, 0, ({ machineName }) => isNameIn(setName, machineName)),
    hasNoOwnerless(className) {
      const machineClass = listedClass(className);
      if (machineClass === undefined || isIncomplete(machineClass)) return false;
      const list = last.get(className);
      const { sinceMs } = waitFor(missing, className, clock.monotonicMs());
      if (list !== undefined && list.startedMs >= sinceMs + SETTLED_MS)
        return list.hasKnown && ownerlessIn(list).length === 0;
      lists.request(machineClass, SETTLED_MS);
      return false;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
