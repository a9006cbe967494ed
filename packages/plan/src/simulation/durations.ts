import { isRecord, parseGoDuration } from "@millwright/base";
import { deletionTimeIn, type Machine, machineEventReasons } from "@millwright/core/machine-api";

/** How long joins and deletions take, in milliseconds. */
export interface Durations {
  /** From the creation of a machine to its node; `undefined` when unknown. */
  readonly joinMs: number | undefined;
  /** From the deletion of a machine, with its drain, to the end of its VM; `undefined` when unknown. */
  readonly deletionMs: number | undefined;
  /** Number of joins that `joinMs` is the median of; 0 when it was given. */
  readonly finishedJoins: number;
  /** Number of deletions that `deletionMs` is the median of; 0 when it was given. */
  readonly finishedDeletions: number;
}

/** Durations that the user gives instead. */
export type GivenDurations = Partial<Pick<Durations, "joinMs" | "deletionMs">>;

/** Records of past joins and deletions. */
export interface Past {
  /** Their status has how long they took to join. */
  readonly machines: readonly Machine[];
  /** Events of core/v1: the last one of a deleted machine has the duration of its deletion. API servers keep events for an hour by default. */
  readonly events: readonly object[];
}

/**
 * How long each deletion took, milliseconds, the shortest first: by the last event about the machine. Terminating machines, and machines
 * without a node to drain, do not count. All other events are skipped.
 */
export function deletionTimes(events: readonly object[]): readonly number[] {
  // After a failover an event may have been written twice: the longest counts, so that the order does not matter.
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

const medianOf = (sorted: readonly number[]): number | undefined => sorted[Math.floor((sorted.length - 1) / 2)];

/** The medians of past joins and deletions, unless the user gives durations. */
export function pastDurations({ machines, events }: Past, given: GivenDurations = {}): Durations {
  const joins = given.joinMs === undefined ? joinTimes(machines) : [];
  const leaves = given.deletionMs === undefined ? deletionTimes(events) : [];
  return {
    joinMs: given.joinMs ?? medianOf(joins),
    deletionMs: given.deletionMs ?? medianOf(leaves),
    finishedJoins: joins.length,
    finishedDeletions: leaves.length,
  };
}
