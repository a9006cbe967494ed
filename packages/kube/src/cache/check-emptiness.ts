import type { Clock, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import type { Scope } from "../client/call-options.ts";
import type { ServerHistory } from "../client/server-history.ts";
import { keyOf } from "../objects/kube-object.ts";
import { describeType } from "../objects/resource-type.ts";
import { isNewer } from "../objects/resource-version.ts";

/** An empty cache is checked after so long, then after twice as long, and so on, milliseconds. */
export const emptinessChecks = { firstMs: 60_000, longestMs: 10 * 60_000 };

/** A server that does not answer for so long must not keep a new leader from its work, milliseconds. */
const answerMs = 5_000;

/** What {@link createEmptinessCheck} needs. */
export interface EmptinessCheckOptions {
  readonly api: Pick<ApiClient, "list">;
  readonly type: ResourceType;
  readonly scope: Scope;
  readonly clock: Pick<Clock, "sleep">;
  /** The version up to which the cache is complete, while it is and holds nothing; else `undefined`. */
  readonly version: () => string | undefined;
  /** Has everything listed again. */
  readonly history: Pick<ServerHistory, "suspect">;
}

/**
 * Compares a cache that holds nothing with the server: a first list that was empty by mistake is compared with nothing, and no event corrects it while no object changes. Later lists are
 * compared with the one before.
 */
export function createEmptinessCheck({ api, type, scope, clock, version, history }: EmptinessCheckOptions) {
  /** Resolves with whether the cache lacks an object that exists; with `false` when that cannot be found out. Rejects when the signal aborts. */
  async function check(signal: AbortSignal): Promise<boolean> {
    const before = version();
    if (before === undefined) return false;
    // The watch reports why the server does not answer.
    const listed = await api
      .list(type, { ...scope, limit: 1, metadataOnly: true }, { signal, timeoutMs: answerMs })
      .catch(() => undefined);
    signal.throwIfAborted();
    // The event of a newer object is still to come.
    const object = listed?.items.find(({ metadata }) => !isNewer(metadata.resourceVersion, before));
    if (object === undefined || version() === undefined) return false;
    const found = `${keyOf(object)} exists, and the cache is empty`;
    history.suspect({ kind: "incomplete list", resource: describeType(type), found });
    return true;
  }

  /** Checks from time to time. Resolves when the signal aborts. */
  async function run(signal: AbortSignal): Promise<void> {
    const { firstMs, longestMs } = emptinessChecks;
    try {
      for (let waitMs = firstMs; ;) {
        await clock.sleep(waitMs, signal);
        waitMs = (await check(signal)) ? firstMs : Math.min(longestMs, 2 * waitMs);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  return { check, run };
}
