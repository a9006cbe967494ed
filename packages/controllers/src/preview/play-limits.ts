/** Far more than a cluster has nodes, and as many as there is memory for. */
const MOST_MACHINES = 50_000;

/** A machine is replaced in two moments. Windows and canary steps take more, and what has not come to rest after so many never does. */
const mostMoments = (machines: number): number => 20_000 + 10 * machines;

/**
 * Why a preview goes no further, a sentence for people; `undefined` as long as it does.
 *
 * @param moments how many it has looked at
 * @param machines how many there are
 */
export function limitReached(moments: number, machines: number): string | undefined {
  if (machines > MOST_MACHINES)
    return `There are ${machines} machines: a preview goes no further than ${MOST_MACHINES}`;
  const most = mostMoments(machines);
  return moments < most
    ? undefined
    : `It has not come to rest after ${moments} moments: a preview of ${machines} machines goes no further`;
}
