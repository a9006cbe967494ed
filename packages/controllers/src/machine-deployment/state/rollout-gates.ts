/** Bounds from outside that a rollout keeps to besides surge and unavailability: canary steps, maintenance windows, replacement on deletion only. */
export interface RolloutGates {
  /** Machines that the new set may have for now; the old sets keep the rest. Absent: all. What it has already is not taken back. */
  readonly maxNew?: number;
  /** Whether a next step may be taken at all. A new set is made anyway, with no machines, for others wait to see it. */
  readonly mayStart: boolean;
  /** When the limits are due to change by themselves. Absent: only with the objects that they were computed from. */
  readonly requeueAt?: Date;
  /** What the rollout waits for, a clause each, for people. Absent: for nothing. */
  readonly holds?: readonly string[];
}

/** A rollout that only surge and unavailability hold back. */
export const unlimited: RolloutGates = { mayStart: true };

const least = (numbers: readonly (number | undefined)[]): number | undefined => {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** What all of them allow. */
export function intersectGates(all: readonly RolloutGates[]): RolloutGates {
  const maxNew = least(all.map((each) => each.maxNew));
  const requeueAt = least(all.map((each) => each.requeueAt?.getTime()));
  const holds = all.flatMap((each) => each.holds ?? []);
  return {
    mayStart: all.every((each) => each.mayStart),
    ...(maxNew === undefined ? {} : { maxNew }),
    ...(requeueAt === undefined ? {} : { requeueAt: new Date(requeueAt) }),
    ...(holds.length === 0 ? {} : { holds }),
  };
}
