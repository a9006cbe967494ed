/** The event about a clock skew is repeated this often, milliseconds: `millwright describe` shows recent ones only, because the process may have ended. */
export const clockEventMs = 10 * 60_000;

/** The end of both messages, by which they are about the same clocks. */
const ofServer = (cluster: string): string => `that of the API server of the ${cluster} cluster`;

/** The message of the event about a clock skew. */
export const clockDiffers = (cluster: string, aheadSeconds: number): string =>
  `The clock of the controllers is ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? "ahead of" : "behind"} ${ofServer(cluster)}. Synchronize the clocks of both hosts; timeouts use the time of the API server.`;

/** The message of the event about its end. */
export const clockAgrees = (cluster: string): string =>
  `The clock of the controllers agrees with ${ofServer(cluster)}.`;

/** The cluster that one of these messages is about. */
export const clusterIn = (message: string): string | undefined =>
  /that of the API server of the (\S+) cluster\./.exec(message)?.[1];
