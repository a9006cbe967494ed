import type { Clock, Random, ResourceType } from "@millwright/base";
import { backoffDelay } from "../backoff.ts";
import type { BackoffOptions } from "../backoff.ts";
import type { ApiClient } from "../client/api-client.ts";
import { isApiError, isGone, isUnanswered, isVersionTooLarge } from "../client/api-error.ts";
import type { ReadOptions, Scope } from "../client/call-options.ts";
import { type Connectivity, createConnectivityRecord } from "../client/connectivity.ts";
import { listPages } from "../client/list-all.ts";
import { retryAfterOf } from "../client/retry-after.ts";
import { createServerHistory } from "../client/server-history.ts";
import { defaultInactivityMs, type WatchEvent, watchTimeoutSeconds } from "../client/watch.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import type { ApiObject, KubeObject } from "../objects/kube-object.ts";
import { describeType } from "../objects/resource-type.ts";
import { isNewer } from "../objects/resource-version.ts";
import { createEmptinessCheck } from "./check-emptiness.ts";
import { confirmAbsence, findLag, IncompleteListError } from "./confirm-list.ts";
import { createFailureLog } from "./failure-log.ts";
import { followHistory } from "./history-follower.ts";
import { proveHistory } from "./prove-history.ts";
import { sleepUntilReachable } from "./sleep-until-reachable.ts";
import type { Replacement, Store } from "./store.ts";
import { isStreamingRejected, StreamingIgnored, StreamingSilent, streamList } from "./streaming-list.ts";
import { createVersionWaiters } from "./version-waiters.ts";

/** Options of {@link createReflector}. */
export interface ReflectorOptions<T extends ApiObject> extends Scope, ReadOptions {
  readonly api: Pick<ApiClient, "get" | "list" | "watch" | "connectivity" | "history">;
  readonly type: ResourceType;
  /** Written by this reflector alone. */
  readonly store: Store<T, string>;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Whether lists come as a stream of objects that continues as the watch (KEP-3157). If a server rejects or ignores
   * this, lists are paged from then on. After three interrupted streams in a row, or a silent one, lists are paged until
   * one is complete: a failed page costs one page, a failed stream the whole list. Default true.
   */
  readonly streamingList?: boolean | undefined;
  /** Items of one page of a list. Default 100: the text of a page, 1 MiB of Nodes, is in memory as a whole, and 250 of them take 20 MiB more. */
  readonly pageSize?: number | undefined;
  /** How often subscribers are called with every object, changed or not, milliseconds (up to a tenth more). Default: never. */
  readonly resyncMs?: number | undefined;
  /**
   * Between failed attempts; shorter when other requests reach an unreachable server again, and not shorter than a `Retry-After` of up to a minute.
   * Default 800 ms up to 15 s.
   */
  readonly backoff?: BackoffOptions | undefined;
  /** Default 50 s; see `WatchOptions.inactivityMs`. */
  readonly inactivityMs?: number | undefined;
  /**
   * Whether objects keep `metadata.managedFields`, for a store whose `trim` needs them. Default false: they are removed before
   * an object is parsed.
   */
  readonly keepManagedFields?: boolean | undefined;
  /**
   * Whether {@link Reflector.isCurrent} stays true while the server is unreachable: for a cluster whose outage is something to decide about. Default false.
   */
  readonly isUsableWhileUnreachable?: boolean | undefined;
  /** Called with each error that ends a list or watch, before it is retried. Default: errors are only logged. */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly log?: Log | undefined;
}

/** Counters of a reflector, for metrics. */
export interface ReflectorCounts {
  /** Lists that were started, streamed or in pages. */
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  readonly failures: number;
  /** Failures because of an unreadable response. */
  readonly malformed: number;
  /** Lists that were not used because they lacked objects that exist. */
  readonly incompleteLists: number;
  /** Watches that were restarted because they were silent for too long. */
  readonly silences: number;
}

/** Keeps a store equal to what the API server has. */
export interface Reflector {
  /** Runs until the signal aborts, then resolves. Retries without limit, never rejects. Only one run at a time. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether the store has held a complete list at least once. */
  hasSynced(): boolean;
  /**
   * Whether the store has held a complete list since the server was last found to have gone back to an earlier state (etcd restored from a backup),
   * and after an outage, whether the server is known not to have. While false, the store may hold objects that do not exist, and nothing should be decided by it.
   */
  isCurrent(): boolean;
  /** Resolves when the store has held a complete list since the server was last found to have gone back; rejects with the reason of the signal when that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** The version up to which the store is known to be complete. */
  resourceVersion(): string | undefined;
  /**
   * Resolves when the store is complete up to a version, for example that of an own write: from events and bookmarks, or
   * because a list that was started after this call is complete. Rejects with the reason of the signal when it aborts first.
   * Always pass one with a deadline, since a type without changes gets a bookmark only every minute.
   */
  reached(resourceVersion: string, signal?: AbortSignal): Promise<void>;
  /**
   * Makes sure that the store is what the server has now, before someone acts by it who has not used it yet: its watch may be late, or broken for a while. Lists again, unless the first list is under way or
   * the last one was a moment ago; one that was empty is checked then, as the reflector does from time to time. Rejects when the signal aborts.
   */
  renew(signal: AbortSignal): Promise<void>;
  counts(): ReflectorCounts;
  /** For how long there was no event, bookmark, response, or attempt, milliseconds. More than minutes: the reflector hangs, for each attempt has a deadline. */
  silentForMs(): number;
  /** How long ago the last complete list was, milliseconds; undefined before the first one. */
  listedForMs(): number | undefined;
  /** Whether the store is up to date, and since when it is not. */
  readonly connectivity: Connectivity;
}

/** A list or watch that failed. */
interface Attempt {
  readonly isList: boolean;
  readonly isAnswered: boolean;
  /** By `Clock.monotonicMs`. */
  readonly startedMs: number;
}

/** After so many interrupted streamed lists in a row the next one is paged. */
const cutsBeforePages = 3;

/** A younger list is not renewed, milliseconds: it was made for who asks. */
const recentListMs = 5_000;

/** A watch that lasted this long was healthy, even without events. */
const healthyWatchMs = 5_000;

/** A server ends a watch when its time is over, and no more than this before, milliseconds. */
const earlyEndMs = 1_000;

/** No `Retry-After` delays a list or watch for longer, milliseconds: a cache that does nothing for minutes is taken for one that hangs. */
const maxRequestedDelayMs = 60_000;

const requestedDelayMs = (error: unknown): number => Math.min(retryAfterOf(error), maxRequestedDelayMs);

const isUnreachable = (error: unknown): boolean => isApiError(error) && error.reason === "Unreachable";

/** As how many interrupted streamed lists a failed one counts. After a silent one the next is paged, so that the cache is not late by another 10 s. */
function cutsOf(error: unknown, hasBegun: boolean): number {
  if (error instanceof StreamingSilent) return cutsBeforePages;
  return hasBegun || (isApiError(error) && !isUnanswered(error)) ? 1 : 0;
}

const scopeOf = ({ namespace, labelSelector, fieldSelector }: Scope): Scope => ({
  namespace,
  labelSelector,
  fieldSelector,
});

/** Reads a list page by page; resolves with its version. */
async function readPages<T extends ApiObject>(
  options: ReflectorOptions<T>,
  { add, startAgain }: Replacement<T>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { api, type, pageSize = 100, metadataOnly = false } = options;
  const omitManagedFields = options.keepManagedFields !== true;
  const pages = { ...scopeOf(options), pageSize, omitManagedFields, metadataOnly };
  return (await listPages<T>(api, type, pages, { signal }, add, startAgain)).resourceVersion;
}

/** How long a watch may be silent, when the server is to end it, and before when that is too early, by the monotonic clock. */
function timeWatch(
  {
    inactivityMs = defaultInactivityMs,
    clock,
    random,
  }: Pick<ReflectorOptions<never>, "inactivityMs" | "clock" | "random">,
  isList: boolean,
) {
  const timeoutSeconds = watchTimeoutSeconds({ inactivityMs, isList }, random);
  return { inactivityMs, timeoutSeconds, endMs: clock.monotonicMs() + timeoutSeconds * 1_000 - earlyEndMs };
}

/** Whether a watch cannot continue from its version. A kind that is not served may have lost its objects when it is served again. */
const endsHistory = (error: unknown): boolean =>
  isGone(error) || isVersionTooLarge(error) || (isApiError(error) && error.status === 404);

/** Calls subscribers of the store with every object after each period, if there is one. Resolves when the signal aborts. */
async function keepResyncing(
  {
    store,
    clock,
    random,
    resyncMs = 0,
  }: Pick<ReflectorOptions<never>, "clock" | "random" | "resyncMs"> & { readonly store: Pick<Store<never>, "resync"> },
  isSynced: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  if (resyncMs <= 0) return;
  try {
    for (;;) {
      // Jitter, so that not all caches of a process resync at once.
      await clock.sleep(resyncMs * (1 + random.next() / 10), signal);
      if (isSynced()) await store.resync({ clock, signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Creates a reflector: it lists, then watches with bookmarks. A watch that the server ends at its time continues from the last
 * version it saw, one that breaks or ends before from where {@link proveHistory} shows; a 410 leads to a relist, whose differences the store turns into changes.
 * Lists and watches run in one loop, never two at once.
 *
 * A dead connection is detected within 60 s: silence for `inactivityMs` (50 s) leads to a new watch from the
 * last version, which costs one request and no list. A server ends each watch before, with a bookmark, so that a healthy one is not silent for so long.
 */
export function createReflector<T extends ApiObject = KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { api, type, store, clock, random, metadataOnly = false } = options;
  const log = options.log ?? noLog;
  const backoff = options.backoff ?? { initialMs: 800, maxMs: 15_000 };
  const scope = scopeOf(options);
  const omitManagedFields = options.keepManagedFields !== true;
  const counts = { lists: 0, watches: 0, events: 0, failures: 0, malformed: 0, incompleteLists: 0, silences: 0 };
  const serverHistory = api.history ?? createServerHistory(clock);
  const history = followHistory(serverHistory);
  const waiters = createVersionWaiters();
  const connectivity = createConnectivityRecord(clock);
  const failureLog = createFailureLog(log, describeType(type));
  store.onRewind((found) => history.reportFromOutside({ resource: describeType(type), found }));
  let streaming = options.streamingList ?? true;
  let version: string | undefined;
  let synced = false;
  let running = false;
  /** Whether a watch broke, failed or ended before its time: the server may have been restored meanwhile, and the next watch needs a proof that it was not. */
  let isUnproven = false;
  /** Whether it could not be reached since the last answer, or the proof failed: nothing should be decided by the store. */
  let isUnverified = false;
  /** Streamed lists that were interrupted since a list was complete. An unreachable server does not count. */
  let cuts = 0;
  /** Consecutive attempts that brought no new version, and ended soon. */
  let fruitless = 0;
  /** The error of the last of them. */
  let failure: unknown;
  /** Of the last event, bookmark, response or attempt; monotonic clock. */
  let activeMs = clock.monotonicMs();
  /** Of the last complete list; monotonic clock. */
  let listedMs: number | undefined;
  /** Whether the next attempt is to be a list, for which what is under way was ended. */
  let isRenewing = false;

  function reach(next: string | undefined): void {
    if (next === undefined) return;
    version = next;
    waiters.reached(next);
  }

  /** Fills the store with a list from `read`, which returns its version. */
  async function fill(
    read: (replacement: Replacement<T>) => Promise<string | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    counts.lists++;
    fruitless++;
    const answered = waiters.answeredByList();
    const replacement = store.beginReplacement();
    const listed = await read(replacement);
    signal.throwIfAborted();
    await confirmAbsence(api, type, replacement.missing(listed), random, signal);
    // Before the store changes: its subscribers see that it is not current.
    const evidence = replacement.findRewind(listed);
    if (evidence !== undefined) {
      const lag = await findLag(api, type, store.newerThan(listed), signal);
      if (lag !== undefined) throw new IncompleteListError(`the list is of version ${listed}, but ${lag}`);
      reportRewind(evidence);
    }
    await replacement.finish(listed, { clock, signal, isRewound: history.isOutdated() });
    signal.throwIfAborted();
    history.listed();
    isUnverified = false;
    fruitless--;
    cuts = 0;
    reach(listed ?? "");
    answered();
    connectivity.answered();
    synced = true;
    listedMs = clock.monotonicMs();
    emptiness.listed();
  }

  /** Has everything listed again. */
  function reportRewind(found: string): void {
    version = undefined;
    history.report({ resource: describeType(type), found });
  }

  async function verify(signal: AbortSignal): Promise<void> {
    fruitless++;
    const proven = await proveHistory(options, version, signal);
    fruitless--;
    version = proven;
    isUnproven = false;
    // A list verifies it otherwise.
    isUnverified = proven === undefined;
  }

  function applyEvent({ type: kind, object }: WatchEvent): void {
    counts.events++;
    activeMs = clock.monotonicMs();
    if (isNewer(version, object.metadata.resourceVersion)) {
      reportRewind(`a ${kind} event at version ${object.metadata.resourceVersion} after version ${version}`);
      throw new Error("the API server went back to an earlier state");
    }
    // The server holds the objects of this type to its schema; see ApiClient.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const typed = object as ApiObject as T;
    if (kind === "DELETED") store.applyDeletion(typed);
    else if (kind !== "BOOKMARK") store.applyEvent(typed);
    if (object.metadata.resourceVersion !== version) fruitless = 0;
    reach(object.metadata.resourceVersion);
    connectivity.answered();
  }

  async function consume(events: AsyncIterable<WatchEvent>, endMs: number): Promise<void> {
    counts.watches++;
    const startedMs = clock.monotonicMs();
    const versionBefore = version;
    try {
      for await (const event of events) applyEvent(event);
      isUnproven = clock.monotonicMs() < endMs;
    } finally {
      // Do not retry in a tight loop when the server, or a proxy, ends every watch at once, also after a bookmark of the known version.
      if (version !== versionBefore || clock.monotonicMs() - startedMs >= healthyWatchMs) fruitless = 0;
      else fruitless++;
    }
  }

  /** A watch that starts with a list. */
  async function listAndWatch(signal: AbortSignal): Promise<void> {
    const { endMs, ...watch } = timeWatch(options, true);
    const stream = streamList<T>({ api, type, scope, ...watch, omitManagedFields, metadataOnly, clock, signal });
    try {
      const read = ({ add }: Replacement<T>) =>
        stream.readList(add).catch((error: unknown) => {
          cuts += cutsOf(error, stream.hasBegun());
          throw error;
        });
      await fill(read, signal);
      await consume(stream.events, endMs);
    } finally {
      await stream.close();
    }
  }

  const list = (signal: AbortSignal): Promise<void> =>
    fill((replacement) => readPages(options, replacement, signal), signal);

  /** Decides how the next attempt begins. */
  function handleFailure(error: unknown, { isList, isAnswered, startedMs }: Attempt): void {
    options.onError?.(error);
    isUnproven = true;
    if (!isAnswered && isUnanswered(error)) isUnverified = true;
    if (isApiError(error) && error.reason === "WatchSilent") {
      counts.silences++;
      if (!isAnswered) connectivity.failed(startedMs);
      return;
    }
    if (version === undefined && (error instanceof StreamingIgnored || (isList && isStreamingRejected(error)))) {
      streaming = false;
      fruitless = 0;
      const fields = { resource: describeType(type), error: messageOf(error) };
      log("debug", "The API server does not support streaming lists", fields);
      return;
    }
    counts.failures++;
    failure = error;
    if (isApiError(error) && error.reason === "MalformedResponse") counts.malformed++;
    if (error instanceof IncompleteListError) counts.incompleteLists++;
    if (endsHistory(error)) version = undefined;
    if (!isGone(error)) connectivity.failed(isAnswered ? clock.monotonicMs() : startedMs);
    // Relist at once after a 410 that ended a healthy watch; back off after any other error.
    if (!isGone(error)) fruitless = Math.max(1, fruitless);
    failureLog.add(error, fruitless <= 1);
  }

  const isListStreamed = (): boolean => version === undefined && streaming && cuts < cutsBeforePages;

  async function listOrWatch(signal: AbortSignal, onAnswer: () => void): Promise<void> {
    if (version !== undefined && isUnproven) await verify(signal);
    if (isListStreamed()) return await listAndWatch(signal);
    if (version === undefined) await list(signal);
    const resourceVersion = version;
    if (resourceVersion === undefined) return;
    const { endMs, ...watch } = timeWatch(options, false);
    const from = { ...scope, resourceVersion, ...watch, omitManagedFields, metadataOnly, onAnswer };
    await consume(api.watch(type, from, signal), endMs);
  }

  async function once(runSignal: AbortSignal): Promise<void> {
    // Another cache found out between two attempts of this one, or a list is wanted.
    if (history.isOutdated() || isRenewing) version = undefined;
    isRenewing = false;
    const isList = isListStreamed();
    const startedMs = clock.monotonicMs();
    activeMs = startedMs;
    failure = undefined;
    let isAnswered = isList;
    const onAnswer = (): void => {
      isAnswered = true;
      activeMs = clock.monotonicMs();
      connectivity.answered();
    };
    try {
      await listOrWatch(history.attempt(runSignal), onAnswer);
    } catch (error) {
      if (runSignal.aborted) return;
      if (!history.isInterrupted()) return handleFailure(error, { isList, isAnswered, startedMs });
      version = undefined;
      fruitless = isRenewing ? 0 : Math.max(1, fruitless);
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await once(signal);
      if (signal.aborted || fruitless === 0) continue;
      const ms = Math.max(backoffDelay(fruitless - 1, backoff, random), requestedDelayMs(failure));
      const isBack = await sleepUntilReachable({
        ms,
        connectivity: isUnreachable(failure) ? api.connectivity : undefined,
        clock,
        random,
        signal,
      });
      // The server is reachable again: restart the backoff.
      if (isBack) fruitless = 1;
    }
  }

  const emptiness = createEmptinessCheck({
    ...options,
    scope,
    version: () => (history.isCurrent() && !isUnverified ? version : undefined),
    history: serverHistory,
  });

  async function renew(signal: AbortSignal): Promise<void> {
    if (listedMs === undefined) return;
    if (clock.monotonicMs() - listedMs < recentListMs) return void (await emptiness.check(signal));
    isRenewing = true;
    history.interrupt();
    await waiters.nextList(signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    if (running) throw new Error(`the reflector of ${describeType(type)} is already running`);
    running = true;
    try {
      await Promise.all([follow(signal), emptiness.run(signal), keepResyncing(options, () => synced, signal)]);
    } finally {
      running = false;
      connectivity.ended();
    }
  }

  return {
    run,
    hasSynced: () => synced,
    isCurrent: () => history.isCurrent() && (!isUnverified || options.isUsableWhileUnreachable === true),
    synced: history.current,
    resourceVersion: () => version,
    reached: (wanted, signal) => waiters.wait(wanted, version, signal),
    renew,
    counts: () => ({ ...counts }),
    silentForMs: () => clock.monotonicMs() - activeMs,
    listedForMs: () => (listedMs === undefined ? undefined : clock.monotonicMs() - listedMs),
    connectivity,
  };
}
