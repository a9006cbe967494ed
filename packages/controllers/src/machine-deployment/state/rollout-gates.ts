/** What restricts a rollout besides surge and unavailability: canary steps, maintenance windows, replacement on deletion only. */
export interface RolloutGates {
  /** Machines that the new set may have for now; the old sets keep the rest. Absent: all. Existing ones are kept. */
  readonly maxNew?: number;
  /** Whether a next step may be taken at all. A new set is created anyway, without machines, because clients wait for it. */
  readonly mayStart: boolean;
  /** Whether canary steps are ahead of the new template, or it has passed them all. Absent: there are none. */
  readonly steps?: "ahead" | "passed";
  /** Whether no replacement of a machine may begin. Default: not. */
  readonly isClosed?: boolean;
  /** Why no set of the current template may be created. Absent: it may. */
  readonly blocksCreation?: string;
  /** When the gates will change with time. Absent: only with the objects that they are computed from. */
  readonly requeueAt?: Date;
  /** What the rollout waits for, a clause each, for messages. Absent: nothing. */
  readonly holds?: readonly string[];
  /** The first of `holds` in one word. Absent: they have none. */
  readonly reason?: string;
  /** Those of `holds` that wait for new machines to become available: the progress deadline runs. Absent: none. */
  readonly availabilityHolds?: readonly string[];
}

/** No gates: only surge and unavailability apply. */
export const unlimited: RolloutGates = { mayStart: true };

const least = (numbers: readonly (number | undefined)[]): number | undefined => {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** The gates that satisfy all of them. */
export function intersectGates(all: readonly RolloutGates[]): RolloutGates {
  const maxNew = least(all.map((each) => each.maxNew));
  const requeueAt = least(all.map((each) => each.requeueAt?.getTime()));
  const holds = all.flatMap((each) => each.holds ?? []);
  const availabilityHolds = all.flatMap((each) => each.availabilityHolds ?? []);
  const [steps] = all.flatMap((each) => each.steps ?? []);
  const [reason] = all.flatMap((each) => each.reason ?? []);
  const [blocksCreation] = all.flatMap((each) => each.blocksCreation ?? []);
  return {
    mayStart: all.every((each) => each.mayStart),
    ...(maxNew === undefined ? {} : { maxNew }),
    ...(steps === undefined ? {} : { steps }),
    ...(all.some((each) => each.isClosed) ? { isClosed: true } : {}),
    ...(requeueAt === undefined ? {} : { requeueAt: new Date(requeueAt) }),
    ...(blocksCreation === undefined ? {} : { blocksCreation }),
    ...(holds.length === 0 ? {} : { holds }),
    ...(reason === undefined ? {} : { reason }),
    ...(availabilityHolds.length === 0 ? {} : { availabilityHolds }),
  };
}
