import type { ListedMachine } from "@millwright/core";
import { isMuchShorter } from "./find-doubt.ts";
import { maxQuarantined, type Quarantine, type QuarantinedVm } from "./quarantine.ts";

/** Consecutive lists in which a VM had no machine. */
export interface Sighting {
  /** When the first one was requested; monotonic clock. */
  readonly sinceMs: number;
  readonly count: number;
}

/** What a list of VMs and the machines show of the VMs of one class. */
export interface OrphanSnapshot {
  /** The VMs without machine that are in the list, or that were being deleted and whose Nodes remain. */
  readonly orphans: readonly ListedMachine[];
  /** Of earlier lists, by provider id. */
  readonly sightings: ReadonlyMap<string, Sighting>;
  /** As recorded on the class. */
  readonly quarantine: Quarantine;
  /** Why nothing can be concluded. */
  readonly doubt: string | undefined;
  /** Machines of the namespace. */
  readonly machines: number;
  /** When the list was requested; monotonic clock. */
  readonly startedMs: number;
  /** Wall clock, milliseconds. */
  readonly now: number;
}

/** Milliseconds. */
export interface OrphanTimes {
  /** From the first list in which a VM has no machine to its quarantine: the creation of a machine takes no longer. */
  readonly minAgeMs: number;
  /** From quarantine to deletion. */
  readonly quarantineMs: number;
}

/** What follows. */
export interface OrphanDecision {
  readonly sightings: ReadonlyMap<string, Sighting>;
  /** To be recorded on the class. */
  readonly quarantine: Quarantine;
  /** VMs whose quarantine begins. */
  readonly found: readonly ListedMachine[];
  /** VMs whose quarantine is over: they may be deleted. */
  readonly due: readonly ListedMachine[];
}

const uidOf = ({ machineUid }: ListedMachine): Pick<QuarantinedVm, "uid"> =>
  machineUid === undefined || machineUid === "" ? {} : { uid: machineUid };

/** A VM whose quarantine begins. */
const entered = (vm: ListedMachine, now: number): QuarantinedVm => ({
  machine: vm.machineName,
  ...uidOf(vm),
  since: now,
  ...(vm.parts === undefined ? {} : { parts: vm.parts }),
});

/**
 * Decides about the VMs without machine of one class. A VM is put in quarantine when consecutive lists show it without machine for the minimum age, and is due after the quarantine. A doubt restarts
 * the lists; so does a restart, but a VM that is in quarantine needs only two lists then. So do far fewer machines than when the quarantine was recorded, for the quarantine itself.
 */
export function decideOrphans(snapshot: OrphanSnapshot, { minAgeMs, quarantineMs }: OrphanTimes): OrphanDecision {
  const { orphans, quarantine, doubt, machines, startedMs, now } = snapshot;
  if (doubt !== undefined) return { sightings: new Map(), quarantine, found: [], due: [] };
  const sightings = new Map(
    orphans.map(({ providerId }): readonly [string, Sighting] => {
      const known = snapshot.sightings.get(providerId);
      return [providerId, { sinceMs: known?.sinceMs ?? startedMs, count: (known?.count ?? 0) + 1 }];
    }),
  );
  const isProven = ({ providerId }: ListedMachine): boolean => {
    const seen = sightings.get(providerId);
    const isSeenTwice = seen !== undefined && seen.count >= 2;
    return isSeenTwice && (quarantine.vms.has(providerId) || startedMs - seen.sinceMs >= minAgeMs);
  };
  const isRestarted = isMuchShorter(machines, quarantine.machines);
  const vms = new Map<string, QuarantinedVm>();
  for (const vm of orphans) {
    const known = quarantine.vms.get(vm.providerId);
    if (known === undefined) continue;
    // A time in the future is that of another clock.
    const starts = isRestarted || known.since > now;
    vms.set(vm.providerId, starts ? entered(vm, now) : { ...known, ...uidOf(vm) });
  }
  const found = orphans
    .filter((vm) => !vms.has(vm.providerId) && isProven(vm))
    .slice(0, Math.max(0, maxQuarantined - vms.size));
  for (const vm of found) vms.set(vm.providerId, entered(vm, now));
  const due = orphans.filter((vm) => {
    const { since = now, deleted } = vms.get(vm.providerId) ?? {};
    return isProven(vm) && deleted === undefined && now - since >= quarantineMs && now > since;
  });
  const isBegun = quarantine.vms.size === 0 || isRestarted;
  return { sightings, quarantine: { machines: isBegun ? machines : quarantine.machines, vms }, found, due };
}
