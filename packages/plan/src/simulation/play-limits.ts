/** How far a preview looks ahead, milliseconds: a year. */
export const HORIZON_MS = 366 * 24 * 3_600_000;

/** Far more than a cluster has nodes, and as many as there is memory for. */
const MOST_MACHINES = 50_000;

/** A machine is replaced in two moments. Windows and canary steps take more, and what has not come to rest after so many never does. */
const mostMoments = (machines: number): number => 20_000 + 10 * machines;

/** How far a preview has come. */
export interface PreviewReach {
  /** Moments that it has looked at. */
  readonly moments: number;
  /** Machines that there are. */
  readonly machines: number;
  /** From its start to the next moment, milliseconds. */
  readonly aheadMs: number;
}

/** Why a preview goes no further, a sentence for people; `undefined` as long as it does. */
export function limitReached({ moments, machines, aheadMs }: PreviewReach): string | undefined {
  if (machines > MOST_MACHINES)
    return `There are ${machines} machines: a preview goes no further than ${MOST_MACHINES}`;
  if (moments >= mostMoments(machines))
    return `It has not come to rest after ${moments} moments: a preview of ${machines} machines goes no further`;
  return aheadMs > HORIZON_MS ? "It takes more than a year: a preview goes no further" : undefined;
}
