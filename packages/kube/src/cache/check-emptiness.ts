import type { Clock, ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import type { Scope } from "../client/call-options.ts";
import type { ServerHistory } from "../client/server-history.ts";
import { type ApiObject, keyOf } from "../objects/kube-object.ts";
import { describeType } from "../objects/resource-type.ts";
import { isNewer } from "../objects/resource-version.ts";
import type { ReadonlyStore } from "./store.ts";

/** A cache whose list was empty is checked after so long, then after twice as long, and so on, milliseconds. */
export const emptinessChecks = { firstMs: 60_000, longestMs: 10 * 60_000 };

/** A server that does not answer for so long must not keep a new leader from its work, milliseconds. */
const answerMs = 5_000;

/** What {@link createEmptinessCheck} needs. */
export interface EmptinessCheckOptions {
  readonly api: Pick<ApiClient, "list">;
  readonly type: ResourceType;
  readonly scope: Scope;
  readonly clock: Pick<Clock, "sleep">;
  readonly store: Pick<ReadonlyStore<ApiObject>, "size" | "get">;
  /** The version up to which the cache is complete; `undefined` while it is not. */
  readonly version: () => string | undefined;
  /** Has everything listed again. */
  readonly history: Pick<ServerHistory, "suspect">;
}

/**
 * Compares a cache with the server after a list that was empty: if that was a mistake, it is compared with nothing, and events bring back only what changes. Later lists are
 * compared with the one before.
 */
export function createEmptinessCheck(options: EmptinessCheckOptions) {
  const { api, type, scope, clock, store, history } = options;
  /** Whether the last list was empty, and nothing has confirmed it. */
  let isDoubtful = false;
  const version = (): string | undefined => (isDoubtful ? options.version() : undefined);

  /** Resolves with whether the cache lacks an object that exists; with `false` when that cannot be found out. Rejects when the signal aborts. */
  async function check(signal: AbortSignal): Promise<boolean> {
    const before = version();
    if (before === undefined) return false;
    const isEmpty = store.size === 0;
    // The watch reports why the server does not answer.
    const listed = await api
      .list(type, { ...scope, ...(isEmpty ? { limit: 1 } : {}), metadataOnly: true }, { signal, timeoutMs: answerMs })
      .catch(() => undefined);
    signal.throwIfAborted();
    if (listed === undefined || version() === undefined) return false;
    // The event of a newer object is still to come.
    const missing = listed.items.find(
      (object) => !isNewer(object.metadata.resourceVersion, before) && store.get(keyOf(object)) === undefined,
    );
    if (missing === undefined) {
      // One that is empty, too, confirms nothing.
      if (!isEmpty && listed.items.length > 0) isDoubtful = false;
      return false;
    }
    const found = `${keyOf(missing)} exists, and the cache does not hold it`;
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
  return {
    check,
    run,
    /** To be called after each complete list. */
    listed: () => void (isDoubtful = store.size === 0),
  };
}
