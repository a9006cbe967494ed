import type { Connectivity } from "../client/connectivity.ts";

/**
 * Waits for what needs an API server, such as a list of a cache, but no longer than until that server counts as unreachable: an outage of one cluster must not stop what can be done without it. What is
 * awaited goes on.
 *
 * @param afterMs after this time without connectivity the server counts as unreachable, milliseconds
 * @returns whether it is done
 * @throws the error of what is awaited, if that comes first
 */
export function unlessUnreachable(
  awaited: Promise<unknown>,
  connectivity: Pick<Connectivity, "onLost">,
  afterMs: number,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = connectivity.onLost(afterMs, () => resolve(false));
    void awaited.then(() => resolve(true), reject).finally(end);
  });
}
