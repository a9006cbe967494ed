import type { Clock, Random, ResourceType } from "@millwright/core";
import type { ApiClient } from "./api-client.ts";
import type { Scope } from "./call-options.ts";
import { isGone } from "./api-error.ts";
import { backoffDelay } from "./backoff.ts";
import type { BackoffOptions } from "./backoff.ts";
import type { ApiObject, KubeObject } from "./kube-object.ts";
import { listAll } from "./list-all.ts";
import { messageOf, noLog } from "./log.ts";
import type { Log } from "./log.ts";
import { describeType } from "./resource-type.ts";
import type { Store } from "./store.ts";

/** Options of {@link createReflector}. */
export interface ReflectorOptions<T extends ApiObject> extends Scope {
  readonly api: Pick<ApiClient, "list" | "watch">;
  readonly type: ResourceType;
  /** Written by this reflector alone. */
  readonly store: Store<T, string>;
  readonly clock: Clock;
  readonly random: Random;
  /** Items of one page of a list. Default 500: one page of Nodes blocks the event loop 36 ms, 5000 at once 272 ms. */
  readonly pageSize?: number | undefined;
  /** Between failed attempts. Default 800 ms up to 30 s. */
  readonly backoff?: BackoffOptions | undefined;
  /** Default 90 s; see `WatchOptions.inactivityMs`. */
  readonly inactivityMs?: number | undefined;
  readonly log?: Log | undefined;
}

/** What a reflector did so far, for metrics. */
export interface ReflectorCounts {
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  readonly failures: number;
}

/** Keeps a store equal to what the API server has. */
export interface Reflector {
  /** Runs until the signal aborts, then resolves. Never gives up, never rejects. Only one run at a time. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether the store has held a complete list at least once. */
  hasSynced(): boolean;
  /** Resolves when {@link Reflector.hasSynced}; rejects with the reason of the signal when that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** The version up to which the store is known to be complete. */
  resourceVersion(): string | undefined;
  counts(): ReflectorCounts;
}

/** A watch that lived this long was healthy, even if nothing happened in it. */
const healthyWatchMs = 5_000;

/**
 * Makes a reflector: lists in pages, then watches with bookmarks from there on. Whatever ends a watch, it continues from
 * the last version it saw; a 410, wherever it comes up, leads to a fresh list, whose differences the store turns into changes.
 * Lists and watches follow each other in one loop, so that there are never two at once.
 */
export function createReflector<T extends ApiObject = KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { api, type, store, clock, random } = options;
  const log = options.log ?? noLog;
  const backoff = options.backoff ?? { initialMs: 800, maxMs: 30_000 };
  const scope: Scope = {
    namespace: options.namespace,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
  };
  const counts = { lists: 0, watches: 0, events: 0, failures: 0 };
  const firstSync = Promise.withResolvers<void>();
  let version: string | undefined;
  let synced = false;
  let running = false;
  /** Attempts in a row that brought nothing. */
  let fruitless = 0;

  async function list(signal: AbortSignal): Promise<string> {
    counts.lists++;
    fruitless++;
    const mark = store.beginList();
    const { items, metadata } = await listAll<T>(
      api,
      type,
      { ...scope, pageSize: options.pageSize ?? 500 },
      { signal },
    );
    signal.throwIfAborted();
    fruitless--;
    store.replaceAll(items, metadata.resourceVersion, mark);
    synced = true;
    firstSync.resolve();
    return metadata.resourceVersion ?? "";
  }

  async function watch(from: string, signal: AbortSignal): Promise<void> {
    counts.watches++;
    const startedMs = clock.monotonicMs();
    let events = 0;
    try {
      const stream = api.watch(type, { ...scope, resourceVersion: from, inactivityMs: options.inactivityMs }, signal);
      for await (const { type: kind, object } of stream) {
        events++;
        counts.events++;
        // The server holds the objects of this type to its schema; see ApiClient.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const typed = object as ApiObject as T;
        if (kind === "DELETED") store.applyDeletion(typed);
        else if (kind !== "BOOKMARK") store.applyEvent(typed);
        version = object.metadata.resourceVersion ?? version;
        fruitless = 0;
      }
    } finally {
      // A server that ends every watch at once must not be asked in a tight loop.
      if (events > 0 || clock.monotonicMs() - startedMs >= healthyWatchMs) fruitless = 0;
      else fruitless++;
    }
  }

  async function once(signal: AbortSignal): Promise<void> {
    try {
      version ??= await list(signal);
      await watch(version, signal);
    } catch (error) {
      if (signal.aborted) return;
      counts.failures++;
      if (isGone(error)) version = undefined;
      // After a 410 that ended a good watch the fresh list comes at once; anything else gets a pause.
      else fruitless = Math.max(1, fruitless);
      log("debug", "A list or watch ended with an error and is repeated", {
        resource: describeType(type),
        error: messageOf(error),
      });
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (running) throw new Error(`the reflector of ${describeType(type)} runs already`);
    running = true;
    try {
      while (!signal.aborted) {
        await once(signal);
        if (signal.aborted || fruitless === 0) continue;
        await clock.sleep(backoffDelay(fruitless - 1, backoff, random), signal).catch(() => {});
      }
    } finally {
      running = false;
    }
  }

  return {
    run,
    hasSynced: () => synced,
    synced: (signal) => untilAborted(firstSync.promise, signal),
    resourceVersion: () => version,
    counts: () => ({ ...counts }),
  };
}

function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve).finally(() => signal.removeEventListener("abort", abort));
  });
}
