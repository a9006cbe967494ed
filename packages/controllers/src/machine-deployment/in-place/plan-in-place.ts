import { newSetReplicas, type RolloutBounds, shrinkOldSets, type Sizes } from "../plan-rolling-update.ts";
import { type SetSize, sum } from "../set-size.ts";
import type { UpdateState } from "./update-state.ts";

/** Bounds of an update in place. */
export interface InPlaceBounds extends RolloutBounds {
  /** Whether nodes are selected here (Auto) or by people (Manual). */
  readonly selects: boolean;
}

/** A machine as far as the planner looks at it. */
export interface UpdatableMachine {
  readonly name: string;
  readonly state: UpdateState;
  readonly isAvailable: boolean;
}

/** A set with its machines, the most dispensable first: in this order they are selected. */
export interface InPlaceSet extends SetSize {
  readonly machines: readonly UpdatableMachine[];
}

/** One step of an update in place. */
export interface InPlacePlan {
  readonly sizes: Sizes;
  /** Names of machines that go over to the new set. */
  readonly transfer: readonly string[];
  /** Names of machines whose nodes may be drained and updated from now on. */
  readonly select: readonly string[];
}

/** Machines whose nodes are being emptied or updated. */
const underWay = ({ state }: UpdatableMachine): boolean => state === "selected" || state === "updating";

/** Hands over what is updated: as many as the new set has places for, of the oldest set first. */
function handOver(places: number, oldSets: readonly InPlaceSet[]): { transfer: string[]; rest: InPlaceSet[] } {
  const transfer: string[] = [];
  const rest = oldSets.map((set): InPlaceSet => {
    const updated = set.machines.filter(({ state }) => state === "updated").slice(0, places - transfer.length);
    transfer.push(...updated.map(({ name }) => name));
    return {
      ...set,
      spec: Math.max(0, set.spec - updated.length),
      existing: set.existing - updated.length,
      // What was just updated is not counted as serving before its phase says so.
      available: Math.min(
        set.available - updated.filter(({ isAvailable }) => isAvailable).length,
        Math.max(0, set.spec - updated.length),
      ),
      machines: set.machines.filter((machine) => !updated.includes(machine)),
    };
  });
  return { transfer, rest };
}

/**
 * Nodes to select: as many as may be missing, given what serves and stays. A machine that is being updated counts once, as one that does not serve (F28);
 * one that failed holds no place of others (F27). A machine that does not serve costs nothing.
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
    const cost = isAvailable ? 1 : 0;
    if (places <= 0 || cost > budget) continue;
    select.push(name);
    budget -= cost;
    places--;
  }
  return select;
}

/**
 * One step of an update in place (machineset-machinedeployment.md, 17): machines whose nodes are updated go over to the new set, new machines fill what is
 * missing or surges, what is left over when the new set is full goes, and further nodes are selected (Auto).
 *
 * `oldSets` are ordered from oldest to newest. Never more than `replicas + maxSurge` machines, and no node is selected of a machine whose service is promised.
 *
 * @param mayGrow whether sets may make machines; a hand-over makes none
 */
export function planInPlaceUpdate(
  bounds: InPlaceBounds,
  newSet: SetSize,
  oldSets: readonly InPlaceSet[],
  mayGrow = true,
): InPlacePlan {
  const { transfer, rest } = handOver(Math.max(0, bounds.replicas - newSet.spec), oldSets);
  const received: SetSize = {
    ...newSet,
    spec: newSet.spec + transfer.length,
    existing: newSet.existing + transfer.length,
  };
  const grown = newSetReplicas(bounds, received.spec, [received, ...rest]);
  const current: SetSize = { ...received, spec: mayGrow ? grown : Math.min(grown, received.spec) };
  const isFull = current.spec >= bounds.replicas;
  const shrunk = isFull ? shrinkOldSets(bounds, current, rest) : new Map<string, number>();
  const sizes = [current, ...rest].map(({ name, spec }): [string, number] => [name, shrunk.get(name) ?? spec]);
  return {
    sizes: new Map(sizes),
    transfer,
    select: bounds.selects && !isFull && mayGrow ? selectNodes(bounds, current, rest) : [],
  };
}
