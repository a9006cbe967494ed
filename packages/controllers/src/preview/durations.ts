import { type Machine, parseGoDuration } from "@millwright/core";

/** How long things take, in milliseconds. */
export interface Durations {
  /** From the creation of a machine to its node; `undefined` when nothing tells. */
  readonly joinMs: number | undefined;
  /** From the deletion of a machine, with its drain, to the end of its VM; `undefined` when nothing tells. */
  readonly leaveMs: number | undefined;
  /** Machines whose own time `joinMs` is the middle of; 0 when it was given. */
  readonly joinedMachines: number;
}

/**
 * What the machines tell of the past: how long each took to join, in the middle. How long drains took is nowhere: the objects of deleted machines are gone.
 *
 * @param given what somebody knows better
 */
export function pastDurations(
  machines: readonly Machine[],
  given: Partial<Pick<Durations, "joinMs" | "leaveMs">> = {},
): Durations {
  const joins = machines
    .map(({ status }) => parseGoDuration(status?.joinDuration ?? ""))
    .filter((ms) => ms !== undefined && ms >= 0)
    .toSorted((a, b) => (a ?? 0) - (b ?? 0));
  const middle = joins[Math.floor((joins.length - 1) / 2)];
  return given.joinMs === undefined
    ? { joinMs: middle, leaveMs: given.leaveMs, joinedMachines: joins.length }
    : { joinMs: given.joinMs, leaveMs: given.leaveMs, joinedMachines: 0 };
}
