import { newSetReplicas, shrinkOldSets } from "../sizes/plan-rolling-update.ts";
import { type RolloutBounds, type Sizes } from "../state/rollout-bounds.ts";
import { type SetSize, sum } from "../state/set-size.ts";
import type { UpdateState } from "./update-state.ts";

/** Bounds of an in-place update. */
export interface InPlaceBounds extends RolloutBounds {
  /** Whether nodes are selected here (Auto) or by users (Manual). */
  readonly selects: boolean;
  /** Whether no replacement may start: existing machines of the surge then replace old ones. Default: `false`. */
  readonly isHeld?: boolean;
}

/** What the planner needs to know of a machine. */
export interface UpdatableMachine {
  readonly name: string;
  readonly state: UpdateState;
  readonly isAvailable: boolean;
  /** Of an outdated machine: name of the set whose template the node was updated for. */
  readonly updatedFor?: string;
}

/** A machine that changes sets. */
export interface Transfer {
  readonly name: string;
  /** Name of the set that receives it. */
  readonly to: string;
}

/** A set with its machines, the most dispensable first: in this order they are selected. */
export interface InPlaceSet extends SetSize {
  readonly machines: readonly UpdatableMachine[];
}

/** One step of an in-place update. */
export interface InPlacePlan {
  readonly sizes: Sizes;
  readonly transfer: readonly Transfer[];
  /** Names of machines whose nodes may be drained and updated from now on. */
  readonly select: readonly string[];
}

/** Machines whose nodes are being drained or updated. */
const underWay = ({ state }: UpdatableMachine): boolean => state === "selected" || state === "updating";

/** A set after it has received and handed over machines. */
function resized(set: InPlaceSet, received: number, given: readonly UpdatableMachine[]): InPlaceSet {
  const spec = Math.max(0, set.spec + received - given.length);
  return {
    ...set,
    spec,
    existing: set.existing + received - given.length,
    // A machine that was just updated does not count as available before its phase is Running.
    available: Math.min(spec, set.available - given.filter(({ isAvailable }) => isAvailable).length),
    machines: set.machines.filter((machine) => !given.includes(machine)),
  };
}

/**
 * Takes machines out of the new set whose nodes were updated for another template that is not current any more: they move back to the set of that template and
 * are updated again from there. In the new set they would count as up to date.
 */
function handBack(newSet: InPlaceSet, oldSets: readonly InPlaceSet[]) {
  const names = new Set(oldSets.map(({ name }) => name));
  const wrong = newSet.machines.filter(({ state, updatedFor = "" }) => state === "outdated" && names.has(updatedFor));
  const transfer = wrong.map(({ name, updatedFor: to = "" }): Transfer => ({ name, to }));
  return {
    transfer,
    newSet: resized(newSet, 0, wrong),
    oldSets: oldSets.map((set) => resized(set, transfer.filter(({ to }) => to === set.name).length, [])),
  };
}

/** Moves updated machines to the new set: as many as it has room for, of the oldest set first. */
function handOver(newSet: InPlaceSet, oldSets: readonly InPlaceSet[], places: number) {
  const transfer: Transfer[] = [];
  const rest = oldSets.map((set) => {
    const updated = set.machines
      .filter(({ state }) => state === "updated")
      .slice(0, Math.max(0, places - transfer.length));
    transfer.push(...updated.map(({ name }) => ({ name, to: newSet.name })));
    return resized(set, 0, updated);
  });
  return { transfer, newSet: resized(newSet, transfer.length, []), oldSets: rest };
}

/**
 * Takes machines out of the old sets that do not serve and cannot be updated: otherwise they would use up `maxUnavailable` for ever. They return in the new set, when they are gone (Cluster API, pull request
 * 13886).
 */
const withoutBroken = (oldSets: readonly InPlaceSet[]): readonly InPlaceSet[] =>
  oldSets.map((set) => {
    const broken = set.machines.filter(({ state }) => state === "broken").length;
    return { ...set, spec: Math.max(0, set.spec - broken) };
  });

/**
 * Nodes to select: as many as may be unavailable, given the machines that serve. A machine that is being updated counts once, as unavailable;
 * one whose update failed does not count against the budget, nor does one that is not available anyway.
 */
function selectNodes(
  { replicas, maxUnavailable }: InPlaceBounds,
  newSet: SetSize,
  oldSets: readonly InPlaceSet[],
): string[] {
  const machines = oldSets.flatMap((set) => set.machines);
  const serving = (set: InPlaceSet): number =>
    Math.min(set.spec, set.machines.filter((machine) => machine.isAvailable && !underWay(machine)).length);
  let budget = newSet.available + sum(oldSets.map(serving)) - (replicas - maxUnavailable);
  let places = replicas - newSet.spec - machines.filter(underWay).length;
  const select: string[] = [];
  for (const { name, isAvailable } of machines.filter(({ state }) => state === "waiting")) {
    if (places <= 0 || (isAvailable && budget <= 0)) continue;
    select.push(name);
    if (isAvailable) budget--;
    places--;
  }
  return select;
}

/**
 * One step of an in-place update (MCM, `pkg/controller/deployment_inplace.go` rolloutInPlace): machines whose nodes are updated move to the new set, new machines fill gaps
 * and the surge, surplus machines are deleted when the new set is full, and further nodes are selected (Auto).
 *
 * `oldSets` are ordered from oldest to newest. Never more than `replicas + maxSurge` machines, and no node is selected below `replicas - maxUnavailable` available machines.
 *
 * @param mayGrow whether sets may create machines; a hand-over creates none
 */
export function planInPlaceUpdate(
  bounds: InPlaceBounds,
  newSet: InPlaceSet,
  oldSets: readonly InPlaceSet[],
  mayGrow = true,
): InPlacePlan {
  const back = handBack(newSet, oldSets);
  const olds = bounds.isHeld === true || !mayGrow ? back.oldSets : withoutBroken(back.oldSets);
  const over = handOver(back.newSet, olds, bounds.replicas - back.newSet.spec);
  const { spec } = over.newSet;
  const grown = newSetReplicas(bounds, spec, [over.newSet, ...over.oldSets]);
  const current: InPlaceSet = { ...over.newSet, spec: mayGrow ? grown : Math.min(grown, spec) };
  const isFull = current.spec >= bounds.replicas;
  const kept = Math.max(0, bounds.replicas - current.spec);
  const isEnding = isFull || bounds.isHeld === true;
  const shrunk = isEnding ? shrinkOldSets(bounds, current, over.oldSets, kept) : new Map<string, number>();
  return {
    sizes: new Map([current, ...over.oldSets].map((set) => [set.name, shrunk.get(set.name) ?? set.spec])),
    transfer: [...back.transfer, ...over.transfer],
    select: bounds.selects && !isFull && mayGrow ? selectNodes(bounds, current, over.oldSets) : [],
  };
}
