/** How far a preview looks ahead, milliseconds: a year. */
export const HORIZON_MS = 366 * 24 * 3_600_000;

/** Far more than a cluster has nodes, and few enough for the memory. */
const MAX_MACHINES = 50_000;

/** A replacement takes two moments; windows and canary steps take more. A rollout that has not settled after so many never does. */
const maxMoments = (machines: number): number => 20_000 + 10 * machines;

/** The progress of a simulation. */
export interface PreviewReach {
  /** Moments simulated so far. */
  readonly moments: number;
  /** Machines in the model. */
  readonly machines: number;
  /** From its start to the next moment, milliseconds. */
  readonly aheadMs: number;
}

/** Why the simulation ends at a limit, a sentence for people; `undefined` while it continues. */
export function limitReached({ moments, machines, aheadMs }: PreviewReach): string | undefined {
  if (machines > MAX_MACHINES)
    return `The simulation ends: it has ${machines} machines, more than the limit of ${MAX_MACHINES}`;
  if (moments >= maxMoments(machines))
    return `The simulation ends: it has not settled after ${moments} moments, the limit for ${machines} machines`;
  return aheadMs > HORIZON_MS ? "The simulation ends: the rollout takes more than a year" : undefined;
}
