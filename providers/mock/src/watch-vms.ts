import type { Clock } from "@millwright/core";
import { isCloudError } from "./cloud-error.ts";
import type { ChangeCursor, MockCloud, VmChanges } from "./cloud.ts";

/** Options of {@link watchVms}. */
export interface WatchVmsOptions {
  readonly clock: Clock;
  /** Ends the watch: the iteration then finishes without an error. */
  readonly signal: AbortSignal;
  /** Called with failures; the watch continues. */
  readonly onError?: (error: unknown) => void;
}

const waitMs = 20_000;
const firstRetryMs = 250;
const longestRetryMs = 5000;

/**
 * Follows the VMs of a cloud, in process or over HTTP: first everything (`reset: true`), then what changed, in batches. A cloud that is unreachable
 * is asked again, with growing pauses of at most 5 s; nothing is missed meanwhile, and after a restart without data there is a new reset.
 *
 * @example
 * for await (const { reset, vms } of watchVms(cloud, { clock: systemClock, signal })) {
 *   if (reset) forgetAll();
 *   for (const vm of vms) apply(vm);
 * }
 */
export async function* watchVms(
  cloud: MockCloud,
  options: WatchVmsOptions,
): AsyncGenerator<VmChanges, void, undefined> {
  const { clock, signal, onError } = options;
  let cursor: ChangeCursor = {};
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    let changes: VmChanges;
    try {
      changes = await cloud.changes(cursor, { waitMs, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!isCloudError(error)) throw error;
      onError?.(error);
      await clock.sleep(retryMs, signal).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, longestRetryMs);
      continue;
    }
    retryMs = firstRetryMs;
    cursor = changes.cursor;
    if (changes.reset || changes.vms.length > 0) yield changes;
  }
}
