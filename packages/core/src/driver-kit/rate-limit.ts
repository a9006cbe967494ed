import type { Clock, Random, Timer } from "@millwright/base";
import { MachineError } from "../driver/machine-error.ts";
import { deadlineOf, type RemainingMs } from "./call-deadline.ts";
import {
  afterAcceptance,
  afterIdleness,
  afterRejection,
  firstRate,
  type GrantedRate,
  sendRate,
} from "./granted-rate.ts";

/** A request in a {@link RateLimit}, which keeps its place when it is throttled. */
export interface RateTicket {
  /** Its place among all requests, which are sent in this order. */
  readonly order: number;
  /** How often the rate had been lowered when it was sent. */
  cuts: number;
}

/**
 * The rate of one kind of request with one credential. Without throttling there is no limit and no cost. After a throttled request, all requests wait for their turns at the rate that the cloud grants, which
 * is measured, approached from below and exceeded now and then to find out whether it has grown. The limit ends a minute after the last throttled request, when none is waiting.
 *
 * A waiting request holds nothing that others need: `turn`, then a place among the requests in flight, then `take`, which is false when another request has the turn now.
 */
export interface RateLimit {
  ticket(): RateTicket;
  /**
   * Resolves when it is the turn of a request. One waiting request at a time has the turn, the oldest first.
   *
   * Rejects with the reason of the signal, and with MachineError Unavailable when the turn would come after the deadline of the call. Its `retryAfterMs` is the time of that turn, after
   * those of all requests that were rejected before: they do not come back at once.
   */
  turn(ticket: RateTicket, signal: AbortSignal): Promise<void>;
  /** Called right before a request is sent: false when it has to wait for a turn. */
  take(ticket: RateTicket): boolean;
  /** After a request completed without being throttled. */
  accepted(ticket: RateTicket): void;
  /** After a request was throttled, with the cloud's code and for how long it requests to send none. */
  rejected(ticket: RateTicket, code: string, retryAfterMs: number): void;
  /** For requests that end for another reason while they have the turn. */
  leave(ticket: RateTicket): void;
}

interface Waiter {
  readonly ticket: RateTicket;
  readonly remainingMs: RemainingMs;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Limit {
  /** The cloud's code of the last throttled request. */
  code: string;
  rate: GrantedRate;
  /** When the next request may be sent. */
  nextMs: number;
  rejectedAtMs: number;
  /** Until when the turns are reserved for requests that were rejected. */
  promisedMs: number;
}

/** After so long without a throttled request the limit ends. */
const recoveryMs = 60_000;
/** Remaining time of a call that a request needs for its response, milliseconds. */
const answerMs = 2_000;
/** How much an interval or a pause may be longer, as a fraction: other processes were throttled as well. */
const jitter = 0.1;

/** Options of {@link createRateLimit}. */
export interface RateLimitOptions {
  /** Names of the cloud and of the kind of request, for messages. */
  readonly cloud: string;
  readonly action: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Creates the limit of one kind of request. */
export function createRateLimit({ cloud, action, clock, random }: RateLimitOptions): RateLimit {
  let limit: Limit | undefined;
  let tickets = 0;
  let cuts = 0;
  // In the order of their tickets, and without the one that has the turn.
  let waiting: Waiter[] = [];
  let turnOf: RateTicket | undefined;
  let timer: Timer | undefined;

  const intervalMs = ({ rate }: Limit): number => 1_000 / sendRate(rate);
  const withJitter = (ms: number): number => ms * (1 + jitter * random.next());
  const isIdle = (): boolean => waiting.length === 0 && turnOf === undefined;

  /** The error for a request behind so many others whose turn comes too late. Ignores a rate that is not measured yet. */
  const lateness = (known: Limit, ahead: number, remainingMs: number): MachineError | undefined => {
    const nowMs = clock.monotonicMs();
    const queueMs = known.rate.isMeasured ? ahead * intervalMs(known) : 0;
    const turnMs = Math.max(nowMs, known.nextMs) + queueMs;
    if (turnMs - nowMs + answerMs <= remainingMs) return undefined;
    const promisedMs = Math.max(turnMs, known.promisedMs);
    known.promisedMs = promisedMs + intervalMs(known);
    const text = `${cloud} throttles ${action} (${known.code}): the wait for a turn exceeds the deadline of the call`;
    return new MachineError("Unavailable", text, { retryAfterMs: Math.ceil(promisedMs - nowMs) });
  };

  const rejectLate = (known: Limit): void => {
    const inTime: Waiter[] = [];
    for (const waiter of waiting) {
      const late = lateness(known, inTime.length, waiter.remainingMs());
      if (late === undefined) inTime.push(waiter);
      else waiter.reject(late);
    }
    waiting = inTime;
  };

  /** Gives the turn to the oldest request that waits, as soon as it may be sent. */
  const advance = (): void => {
    timer?.cancel();
    timer = undefined;
    const known = limit;
    if (known === undefined) return;
    while (turnOf === undefined) {
      const [next] = waiting;
      if (next === undefined) return;
      const delayMs = known.nextMs - clock.monotonicMs();
      if (delayMs > 0) {
        timer = clock.setTimer(delayMs, advance);
        return;
      }
      waiting.shift();
      const late = lateness(known, 0, next.remainingMs());
      if (late === undefined) {
        turnOf = next.ticket;
        next.resolve();
      } else next.reject(late);
    }
  };

  const untilTurn = (ticket: RateTicket, remainingMs: RemainingMs, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting = waiting.filter((other) => other !== waiter);
        advance();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        ticket,
        remainingMs,
        resolve: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
        reject: (error) => {
          signal.removeEventListener("abort", leave);
          reject(error);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.splice(waiting.findLastIndex((other) => other.ticket.order < ticket.order) + 1, 0, waiter);
      advance();
    });

  return {
    ticket: () => ({ order: tickets++, cuts }),
    async turn(ticket, signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonicMs();
      if (limit !== undefined && isIdle() && nowMs - limit.rejectedAtMs > recoveryMs) limit = undefined;
      if (limit === undefined) return;
      if (isIdle() && limit.nextMs <= nowMs) limit.rate = afterIdleness(limit.rate, nowMs);
      const remainingMs = deadlineOf(signal, clock);
      const late = lateness(limit, waiting.length, remainingMs());
      if (late !== undefined) throw late;
      await untilTurn(ticket, remainingMs, signal);
    },
    take(ticket) {
      if (limit !== undefined) {
        if (turnOf !== ticket) return false;
        turnOf = undefined;
        const stepMs = withJitter(intervalMs(limit));
        // After a late timer at most one request is sent early.
        limit.nextMs = Math.max(limit.nextMs, clock.monotonicMs() - stepMs) + stepMs;
        advance();
      }
      ticket.cuts = cuts;
      return true;
    },
    accepted(ticket) {
      if (limit !== undefined) limit.rate = afterAcceptance(limit.rate, ticket.cuts === cuts);
    },
    rejected(ticket, code, retryAfterMs) {
      const nowMs = clock.monotonicMs();
      const resumeMs = nowMs + withJitter(retryAfterMs);
      const isCut = ticket.cuts === cuts;
      if (isCut) cuts++;
      if (limit === undefined) {
        limit = { code, rate: firstRate(nowMs, resumeMs), nextMs: resumeMs, rejectedAtMs: nowMs, promisedMs: nowMs };
      } else if (isCut) limit.rate = afterRejection(limit.rate, nowMs, resumeMs);
      limit.code = code;
      limit.rejectedAtMs = nowMs;
      limit.nextMs = Math.max(limit.nextMs, resumeMs, isCut ? nowMs + withJitter(intervalMs(limit)) : 0);
      if (isCut) rejectLate(limit);
      advance();
    },
    leave(ticket) {
      if (turnOf !== ticket) return;
      turnOf = undefined;
      advance();
    },
  };
}
