import { deletionTimeIn, isRecord, type Machine, machineEventReasons, parseGoDuration } from "@millwright/core";

/** How long things take, in milliseconds. */
export interface Durations {
  /** From the creation of a machine to its node; `undefined` when nothing tells. */
  readonly joinMs: number | undefined;
  /** From the deletion of a machine, with its drain, to the end of its VM; `undefined` when nothing tells. */
  readonly leaveMs: number | undefined;
  /** Machines whose own time `joinMs` is the middle of; 0 when it was given. */
  readonly joinedMachines: number;
  /** Machines that are gone, and whose time `leaveMs` is the middle of; 0 when it was given. */
  readonly leftMachines: number;
}

/** What somebody knows better than the past. */
export type GivenDurations = Partial<Pick<Durations, "joinMs" | "leaveMs">>;

/** What tells of the past. */
export interface Past {
  /** Each knows how long it took to join. */
  readonly machines: readonly Machine[];
  /** Events of core/v1: of machines that are gone, the last one says how long that took. API servers forget events, after an hour by default. */
  readonly events: readonly object[];
}

/**
 * How long each machine that is gone took to leave, milliseconds, the shortest first: by the last event about it. Machines that are still on their way out, or that
 * had no node to drain, tell nothing. Whatever else is among the events is passed over.
 */
export function leaveTimes(events: readonly object[]): readonly number[] {
  // An event may have been written twice, by a process that took over: the longest counts, so that no order matters.
  const byMachine = new Map<string, number>();
  for (const event of events) {
    if (!isRecord(event) || event["reason"] !== machineEventReasons.deleting) continue;
    const { involvedObject, message } = event;
    if (!isRecord(involvedObject) || involvedObject["kind"] !== "Machine" || typeof message !== "string") continue;
    const { uid } = involvedObject;
    const ms = deletionTimeIn(message);
    if (typeof uid === "string" && ms !== undefined) byMachine.set(uid, Math.max(ms, byMachine.get(uid) ?? 0));
  }
  return [...byMachine.values()].toSorted((a, b) => a - b);
}

function joinTimes(machines: readonly Machine[]): readonly number[] {
  return machines
    .flatMap(({ status }) => parseGoDuration(status?.joinDuration ?? "") ?? [])
    .filter((ms) => ms >= 0)
    .toSorted((a, b) => a - b);
}

const middleOf = (sorted: readonly number[]): number | undefined => sorted[Math.floor((sorted.length - 1) / 2)];

/** What the past tells of how long things take, in the middle, where nobody knows better. */
export function pastDurations({ machines, events }: Past, given: GivenDurations = {}): Durations {
  const joins = given.joinMs === undefined ? joinTimes(machines) : [];
  const leaves = given.leaveMs === undefined ? leaveTimes(events) : [];
  return {
    joinMs: given.joinMs ?? middleOf(joins),
    leaveMs: given.leaveMs ?? middleOf(leaves),
    joinedMachines: joins.length,
    leftMachines: leaves.length,
  };
}
