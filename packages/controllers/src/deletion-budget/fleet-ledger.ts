import type { Clock } from "@millwright/base";
import { type Machine, phaseOf } from "@millwright/core/machine-api";
import { controllerRefOf, type ReadonlyStore } from "@millwright/kube";
import { isProtected } from "../model/deletion-protection.ts";
import { markedStage } from "../model/phase.ts";
import { hasId } from "../model/provisioning.ts";

/** Losses and arrivals count for this long, milliseconds. */
const WINDOW_MS = 3_600_000;

/** Phases of a machine whose VM has served: without it something is lost. In all others its Node never joined, or it is to be replaced. */
const served: ReadonlySet<string> = new Set([
  "Running",
  "Unknown",
  "Available",
  "InPlaceUpdating",
  "InPlaceUpdateSuccessful",
  "InPlaceUpdateFailed",
]);

/**
 * Whether a machine has a VM that may have been up: the deletion of any other loses nothing. One without a phase was created from a file, with the id of a VM that exists, unless its status shows that the VM is being created.
 */
export function isInService(machine: Machine): boolean {
  if (!hasId(machine)) return false;
  const phase = phaseOf(machine);
  if (phase === "") return machine.status?.lastOperation?.type !== "Create";
  // A phase of another version.
  return phase === undefined || served.has(phase);
}

/** The machines of one MachineSet, or all without one. */
export interface SetLedger {
  /** Empty for machines without a set. */
  readonly setUid: string;
  readonly setName: string;
  /** In service, and not deleted yet. */
  readonly inService: number;
  /** Those of them that are terminating. */
  readonly terminating: number;
  /** Losses minus arrivals within the hour; may be negative. */
  readonly netLoss: number;
}

type MutableSet = { -readonly [Field in keyof SetLedger]: SetLedger[Field] } & {
  machines: number;
  /** Losses and arrivals that count. */
  entries: number;
};

interface Entry {
  readonly atMs: number;
  readonly set: MutableSet;
  readonly change: 1 | -1;
  isRevoked?: true;
}

interface Tracked {
  readonly uid: string;
  set: MutableSet;
  isTerminating: boolean;
  /** Came into service once: a flapping machine is one arrival. */
  hasServed: boolean;
  isEntered: boolean;
  /** It was seen without a VM: until it has a phase, its VM is new. */
  wasWithoutVm: boolean;
  /** When its deletion was entered by this process. */
  wasInService?: boolean;
  /** What else its entry has used, if it is revoked. */
  giveBack?: (() => void) | undefined;
  entry?: Entry | undefined;
}

/** The set of a machine; empty without one. */
export type LedgerSet = Pick<SetLedger, "setUid" | "setName">;

export const setOfMachine = (machine: Machine): LedgerSet => {
  const owner = controllerRefOf(machine);
  return owner?.kind === "MachineSet" ? { setUid: owner.uid, setName: owner.name } : { setUid: "", setName: "" };
};

/** Counts machines in service, and their losses, from the events of a cache. No read lists machines. */
export class FleetLedger {
  /** When the last machine that is counted became terminating, monotonic clock. */
  lastRequestMs = Number.NEGATIVE_INFINITY;
  /** UIDs of machines whose deletion would be a loss that was not entered yet. Changes with the cache. */
  readonly counted = new Set<string>();
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #byUid = new Map<string, Tracked>();
  readonly #sets = new Map<string, MutableSet>();
  /** Oldest first. */
  #entries: Entry[] = [];
  /** Index of the first entry within the window. */
  #first = 0;

  constructor(machines: Pick<ReadonlyStore<Machine, string>, "subscribe">, clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
    machines.subscribe((old, current) => this.#apply(old, current));
  }

  sets(): Iterable<SetLedger> {
    this.#expire();
    return this.#sets.values();
  }

  /** Whether the deletion of a machine was entered. */
  isEntered(uid: string): boolean {
    return this.#byUid.get(uid)?.isEntered === true;
  }

  /**
   * Enters the deletion of a machine.
   *
   * @param isLoss whether the share counts it
   * @param giveBack called when the entry is revoked
   */
  enter(uid: string, isLoss: boolean, giveBack?: () => void): void {
    const tracked = this.#byUid.get(uid);
    if (tracked === undefined || tracked.isEntered) return;
    const wasInService = this.counted.has(uid);
    this.#leaveService(tracked);
    tracked.isEntered = true;
    tracked.wasInService = wasInService;
    tracked.giveBack = giveBack;
    if (isLoss && wasInService) tracked.entry = this.#add(tracked.set, 1);
  }

  revoke(uid: string): void {
    const tracked = this.#byUid.get(uid);
    if (tracked?.isEntered !== true) return;
    tracked.isEntered = false;
    const { entry, wasInService, giveBack } = tracked;
    tracked.entry = undefined;
    tracked.giveBack = undefined;
    giveBack?.();
    this.#expire();
    if (entry !== undefined && this.#clock.monotonicMs() - entry.atMs < WINDOW_MS) {
      entry.isRevoked = true;
      entry.set.netLoss -= entry.change;
    }
    if (wasInService === true) this.#enterService(tracked);
  }

  /** Follows the cache. */
  #apply(old: Machine | undefined, current: Machine | undefined): void {
    if (old !== undefined && old.metadata.uid !== current?.metadata.uid) this.#forget(old.metadata.uid ?? "");
    if (current !== undefined) this.#observe(current, old === undefined);
  }

  #observe(machine: Machine, isFirst: boolean): void {
    const { uid = "", deletionTimestamp } = machine.metadata;
    const owner = setOfMachine(machine);
    const tracked = this.#byUid.get(uid) ?? this.#track(uid, owner);
    if (tracked.set.setUid !== owner.setUid) this.#move(tracked, owner);
    tracked.wasWithoutVm ||= !hasId(machine);
    const isNew = tracked.wasWithoutVm && phaseOf(machine) === "";
    const isServing = isInService(machine) && !isNew && !tracked.isEntered;
    if (isServing !== this.counted.has(uid)) this.#serve(tracked, isServing, isFirst);
    // A protected machine is kept in any case.
    const isTerminating = deletionTimestamp != null && !isProtected(machine);
    if (isTerminating && !tracked.isTerminating) {
      tracked.isTerminating = true;
      if (this.counted.has(uid)) {
        tracked.set.terminating++;
        this.lastRequestMs = this.#clock.monotonicMs();
      }
    }
    if (markedStage({ machine }) !== undefined && !tracked.isEntered) this.#enterForeign(tracked, hasId(machine));
  }

  /** Another process has begun this deletion. */
  #enterForeign(tracked: Tracked, isLoss: boolean): void {
    tracked.isEntered = true;
    this.#leaveService(tracked);
    if (isLoss) tracked.entry = this.#add(tracked.set, 1);
  }

  #serve(tracked: Tracked, isServing: boolean, isFirst: boolean): void {
    if (!isServing) return this.#leaveService(tracked);
    this.#enterService(tracked);
    if (!isFirst && !tracked.hasServed) this.#add(tracked.set, -1);
    tracked.hasServed = true;
  }

  #enterService(tracked: Tracked): void {
    this.counted.add(tracked.uid);
    tracked.set.inService++;
    if (tracked.isTerminating) tracked.set.terminating++;
  }

  #leaveService(tracked: Tracked): void {
    if (!this.counted.delete(tracked.uid)) return;
    tracked.set.inService--;
    if (tracked.isTerminating) tracked.set.terminating--;
  }

  #move(tracked: Tracked, owner: LedgerSet): void {
    const wasServing = this.counted.has(tracked.uid);
    this.#leaveService(tracked);
    tracked.set.machines--;
    this.#release(tracked.set);
    tracked.set = this.#setOf(owner);
    tracked.set.machines++;
    if (wasServing) this.#enterService(tracked);
  }

  #track(uid: string, owner: LedgerSet): Tracked {
    const set = this.#setOf(owner);
    set.machines++;
    const tracked: Tracked = {
      uid,
      set,
      isTerminating: false,
      hasServed: false,
      isEntered: false,
      wasWithoutVm: false,
    };
    this.#byUid.set(uid, tracked);
    return tracked;
  }

  #forget(uid: string): void {
    const tracked = this.#byUid.get(uid);
    if (tracked === undefined) return;
    this.#leaveService(tracked);
    tracked.set.machines--;
    this.#byUid.delete(uid);
    this.#release(tracked.set);
  }

  #setOf(owner: LedgerSet): MutableSet {
    const found = this.#sets.get(owner.setUid);
    if (found !== undefined) return found;
    const made = { ...owner, inService: 0, terminating: 0, netLoss: 0, machines: 0, entries: 0 };
    this.#sets.set(owner.setUid, made);
    return made;
  }

  /** A set without machines is kept while it has losses or arrivals. */
  #release(set: MutableSet): void {
    if (set.machines === 0 && set.entries === 0) this.#sets.delete(set.setUid);
  }

  #add(set: MutableSet, change: 1 | -1): Entry {
    const entry: Entry = { atMs: this.#clock.monotonicMs(), set, change };
    this.#entries.push(entry);
    set.netLoss += change;
    set.entries++;
    return entry;
  }

  #expire(): void {
    const before = this.#clock.monotonicMs() - WINDOW_MS;
    for (let entry = this.#entries[this.#first]; entry !== undefined && entry.atMs <= before;) {
      if (entry.isRevoked !== true) entry.set.netLoss -= entry.change;
      entry.set.entries--;
      this.#release(entry.set);
      entry = this.#entries[++this.#first];
    }
    if (this.#first > 1_000) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}
