import type { Clock } from "@millwright/base";
import { startDeadline } from "../deadline.ts";
import type { ApiObject } from "../objects/kube-object.ts";
import type { Reflector } from "./reflector.ts";

/** Options of {@link waitForCache}. */
export interface WaitForCacheOptions {
  /** The cache, and what was written: the answer of the API server, or its version. */
  readonly cache: Pick<Reflector, "reached">;
  readonly written: ApiObject | string;
  readonly clock: Clock;
  /** How long at most, milliseconds. Default 5 s. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until a cache has seen a write, and with it everything that happened before it: reading one's own writes. The object
 * itself is better put into the store at once (`applyWrite`); this is for what follows from a write, such as what a server or
 * another controller did in the same type before.
 *
 * @returns whether the cache has seen it in time: on false, requeue instead of deciding from a stale cache
 * @throws the reason of `signal` when that aborts
 */
export async function waitForCache(options: WaitForCacheOptions): Promise<boolean> {
  const { cache, written, clock, signal } = options;
  const version = typeof written === "string" ? written : written.metadata.resourceVersion;
  if (version === undefined) return true;
  const deadline = startDeadline(clock, options.timeoutMs ?? 5_000, signal);
  try {
    await cache.reached(version, deadline.signal);
    return true;
  } catch (error) {
    if (deadline.expired()) return false;
    throw error;
  } finally {
    deadline.clear();
  }
}
