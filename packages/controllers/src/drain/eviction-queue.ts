import type { Clock, Random } from "@millwright/core";
import {
  type ApiClient,
  backoffDelay,
  isDisruptionBudgetRefusal,
  isApiError,
  isNotFound,
  podResource,
} from "@millwright/kube";
import type { EvictionView } from "./eviction-view.ts";

/** An order to a pod to go. `delete` goes past its budget, `kill` past its grace period as well. */
export interface EvictionOrder {
  readonly kind: "evict" | "delete" | "kill";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** How orders are sent. */
export interface EvictionQueueOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Most orders a second, over all drains. Default 50. */
  readonly perSecond?: number;
  /** Most orders that wait for an answer at once. Default 20. */
  readonly parallel?: number;
}

/** Sends the orders of all drains, so that a hundred of them do not hammer the API server; nobody waits in it. */
export interface EvictionQueue {
  /** What became of the order to the pod with this UID; `undefined` when there was none. */
  view(uid: string): EvictionView | undefined;
  /**
   * Queues an order; `enqueue` is called once when the API server has answered. An order that is no stronger than the one under way, or accepted, does nothing, so
   * that a drain may say the same in every pass.
   */
  add(order: EvictionOrder, enqueue: () => void): void;
  /** The pod is gone. */
  forget(uid: string): void;
  /** Orders that were not answered. */
  readonly depth: number;
  /** Sends nothing more and resolves when everything that was sent is answered. */
  close(): Promise<void>;
}

const DEFAULT_PER_SECOND = 50;
const DEFAULT_PARALLEL = 20;

const strength: Readonly<Record<EvictionOrder["kind"], number>> = { evict: 0, delete: 1, kill: 2 };

/** A budget is asked again soon, as the cache shows room before that; errors come less often, for the server has trouble. */
const budgetBackoff = { initialMs: 1_000, maxMs: 20_000 };
const errorBackoff = { initialMs: 2_000, maxMs: 60_000 };

interface Entry {
  readonly order: EvictionOrder;
  readonly enqueue: () => void;
  readonly failures: number;
  view: EvictionView;
}

/** Makes an {@link EvictionQueue}. What it holds is a convenience: after a restart the drains, which go by the objects, say everything again. */
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

  const rejection = (error: unknown, failures: number): EvictionView => {
    const isBudget = isDisruptionBudgetRefusal(error);
    const asked = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    const delay = Math.max(asked, backoffDelay(failures, isBudget ? budgetBackoff : errorBackoff, random));
    const message = error instanceof Error ? error.message : "the call failed";
    return { state: "rejected", message, isBudget, retryAt: clock.now().getTime() + delay };
  };

  const handle = async (entry: Entry): Promise<void> => {
    let view: EvictionView;
    try {
      await send(entry.order);
      view = { state: "accepted" };
    } catch (error) {
      // No such pod: it went by itself. Of another one of its name the cache will tell; until then a conflict may also be a race within the API server.
      view = isNotFound(error) ? { state: "accepted" } : rejection(error, entry.failures);
    }
    entry.view = view;
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
      nextAt = nowMs + intervalMs;
      const promise = handle(entry).finally(() => {
        sent.delete(promise);
        pump();
      });
      sent.add(promise);
    }
  };

  return {
    view: (uid) => entries.get(uid)?.view,
    add(order, enqueue) {
      const before = entries.get(order.uid);
      const isUnderWay = before !== undefined && before.view.state !== "rejected";
      if (isClosed || (isUnderWay && strength[order.kind] <= strength[before.order.kind])) return;
      const rejected = before?.view.state === "rejected" ? before.view : undefined;
      const rejection = rejected === undefined ? undefined : { message: rejected.message, isBudget: rejected.isBudget };
      const failures = rejection === undefined ? 0 : (before?.failures ?? 0) + 1;
      const view: EvictionView = { state: "queued", ...(rejection === undefined ? {} : { rejection }) };
      const entry: Entry = { order, enqueue, failures, view };
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
