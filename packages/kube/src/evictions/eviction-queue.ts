import { type Clock, type Random, wallTimeOf } from "@millwright/base";
import { backoffDelay } from "../backoff.ts";
import type { ApiClient } from "../client/api-client.ts";
import { isDisruptionBudgetError, isNotFound } from "../client/api-error.ts";
import { retryAfterOf } from "../client/retry-after.ts";
import { podResource } from "../objects/built-in-resources.ts";

/** Why the API server rejected an eviction. */
export interface EvictionRejection {
  /** Its message, with the name of the budget. */
  readonly message: string;
  /** Whether a budget rejected it; otherwise it is an error. */
  readonly isBudget: boolean;
}

/** State of the eviction or deletion of a pod. */
export type EvictionView =
  /** Waiting to be sent, or for the response. `rejection`: of the previous attempt; absent for the first one. */
  | { readonly state: "queued"; readonly rejection?: EvictionRejection }
  /** The eviction was accepted; the cache will show it. */
  | { readonly state: "accepted" }
  /** `retryAt`: wall clock, milliseconds; not retried before. */
  | ({ readonly state: "rejected"; readonly retryAt: number } & EvictionRejection);

/** An eviction or deletion of a pod. `delete` ignores its budget, `kill` its grace period as well. */
export interface EvictionOrder {
  readonly kind: "evict" | "delete" | "kill";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Options of {@link createEvictionQueue}. */
export interface EvictionQueueOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum requests per second, over all drains. Default 100. */
  readonly perSecond?: number;
  /** Maximum requests in flight. Default 20. */
  readonly parallel?: number;
}

/** Sends the evictions of all drains at a limited rate, to protect the API server; callers do not wait. */
export interface EvictionQueue {
  /** State of the eviction of the pod with this UID; `undefined` when there is none. */
  view(uid: string): EvictionView | undefined;
  /**
   * Queues an eviction; `enqueue` is called once with the API server's response. No-op for an eviction that is not stronger than the one in flight, or accepted, so
   * that a drain may request the same in each reconcile.
   */
  add(order: EvictionOrder, enqueue: () => void): void;
  /** The pod is deleted. */
  forget(uid: string): void;
  /** Number of evictions without a response. */
  readonly depth: number;
  /** Sends no more requests and resolves when all sent ones have a response. */
  close(): Promise<void>;
}

const DEFAULT_PER_SECOND = 100;
const DEFAULT_PARALLEL = 20;

/** A timer that is late by up to this, milliseconds, does not lower the rate: the next requests go out at once. */
const LATENESS_MS = 50;

const strength: Readonly<Record<EvictionOrder["kind"], number>> = { evict: 0, delete: 1, kill: 2 };

/** After a rejection by a budget the retry is soon, since the cache shows room before it; after errors it is later, to relieve the server. */
const budgetBackoff = { initialMs: 1_000, maxMs: 20_000 };
const errorBackoff = { initialMs: 2_000, maxMs: 60_000 };

/** As {@link EvictionView}, with the time of the next attempt by the monotonic clock. */
type EvictionState =
  | Exclude<EvictionView, { readonly state: "rejected" }>
  | ({ readonly state: "rejected"; readonly retryAtMs: number } & EvictionRejection);

interface Entry {
  readonly order: EvictionOrder;
  readonly enqueue: () => void;
  readonly failures: number;
  state: EvictionState;
}

/** Makes an {@link EvictionQueue}. Its state is kept in memory only: after a restart the drains request their evictions again. */
export function createEvictionQueue(options: EvictionQueueOptions): EvictionQueue {
  const { api, clock, random } = options;
  const intervalMs = 1_000 / (options.perSecond ?? DEFAULT_PER_SECOND);
  const parallel = options.parallel ?? DEFAULT_PARALLEL;
  /** By UID of the pod. */
  const entries = new Map<string, Entry>();
  const waiting: Entry[] = [];
  const sent = new Set<Promise<void>>();
  let nextAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let isTimed = false;

  const send = async ({ kind, namespace, name, uid }: EvictionOrder): Promise<void> => {
    const ref = { namespace, name };
    if (kind !== "evict") {
      await api.delete(podResource, ref, { uid, ...(kind === "kill" ? { gracePeriodSeconds: 0 } : {}) });
      return;
    }
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: ref,
      deleteOptions: { preconditions: { uid } },
    };
    await api.create(podResource, eviction, { subresource: "eviction" });
  };

  const rejection = (error: unknown, failures: number): EvictionState => {
    const isBudget = isDisruptionBudgetError(error);
    const backoffMs = backoffDelay(failures, isBudget ? budgetBackoff : errorBackoff, random);
    const delayMs = Math.max(retryAfterOf(error), backoffMs);
    const message = error instanceof Error ? error.message : "the call failed";
    return { state: "rejected", message, isBudget, retryAtMs: clock.monotonicMs() + delayMs };
  };

  const viewOf = (state: EvictionState): EvictionView => {
    if (state.state !== "rejected") return state;
    const { retryAtMs, ...rejected } = state;
    return { ...rejected, retryAt: wallTimeOf(clock, retryAtMs) };
  };

  const handle = async (entry: Entry): Promise<void> => {
    try {
      await send(entry.order);
      entry.state = { state: "accepted" };
    } catch (error) {
      // The pod does not exist. A new pod of its name will be in the cache; until then a conflict may also be a race within the API server.
      entry.state = isNotFound(error) ? { state: "accepted" } : rejection(error, entry.failures);
    }
    if (entries.get(entry.order.uid) === entry) entry.enqueue();
  };

  const pump = (): void => {
    while (waiting.length > 0 && sent.size < parallel) {
      const nowMs = clock.monotonicMs();
      if (nowMs < nextAt) {
        if (isTimed) return;
        isTimed = true;
        clock.setTimer(nextAt - nowMs, () => {
          isTimed = false;
          pump();
        });
        return;
      }
      const entry = waiting.shift();
      if (entry === undefined || entries.get(entry.order.uid) !== entry) continue;
      nextAt = Math.max(nextAt, nowMs - LATENESS_MS) + intervalMs;
      const promise = handle(entry).finally(() => {
        sent.delete(promise);
        pump();
      });
      sent.add(promise);
    }
  };

  return {
    view(uid) {
      const entry = entries.get(uid);
      return entry === undefined ? undefined : viewOf(entry.state);
    },
    add(order, enqueue) {
      const before = entries.get(order.uid);
      const isRequested = before !== undefined && before.state.state !== "rejected";
      if (isClosed || (isRequested && strength[order.kind] <= strength[before.order.kind])) return;
      const rejected = before?.state.state === "rejected" ? before.state : undefined;
      const rejection = rejected === undefined ? undefined : { message: rejected.message, isBudget: rejected.isBudget };
      const failures = rejection === undefined ? 0 : (before?.failures ?? 0) + 1;
      const state: EvictionState = { state: "queued", ...(rejection === undefined ? {} : { rejection }) };
      const entry: Entry = { order, enqueue, failures, state };
      entries.set(order.uid, entry);
      waiting.push(entry);
      pump();
    },
    forget(uid) {
      entries.delete(uid);
    },
    get depth() {
      return waiting.length + sent.size;
    },
    async close() {
      isClosed = true;
      waiting.length = 0;
      await Promise.allSettled(sent);
    },
  };
}
