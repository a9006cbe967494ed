import type { Clock, Random } from "@millwright/base";
import type { ApiCall } from "../driver/api-call.ts";
import { createInFlightLimit, type InFlightLimit } from "./in-flight-limit.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import { longestRetryPauseMs, maxAttempts, retryPauseMs } from "./retry-pause.ts";

/** What a failed attempt of a request means. */
export interface AttemptFailure {
  /** One word for metrics: the cloud's code, or that of the system. */
  readonly outcome: string;
  /**
   * `throttled`: the cloud rejected it for its rate, without effect. `transient`: it may have succeeded, and another attempt may help. `final`: another attempt
   * would fail as well.
   */
  readonly kind: "throttled" | "transient" | "final";
  /** For how long the cloud requests to wait, milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** Options of {@link createRequestSender}. */
export interface RequestSenderOptions {
  /** Name of the cloud, for messages. */
  readonly cloud: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Reports every completed attempt, without the time that it waited. Must not throw. */
  readonly reportApiCall?: ((call: ApiCall) => void) | undefined;
  /** Maximum number of concurrent requests. Default 20. */
  readonly maxInFlight?: number | undefined;
  readonly readFailure: (error: unknown) => AttemptFailure;
}

/** One request. */
export interface SentRequest {
  /** What it is for: the metric label. */
  readonly service: string;
  /** The cloud's name of the request: requests of one action share their rate. Default: the service. */
  readonly action?: string;
  readonly signal: AbortSignal;
  /** Limits the requests in flight. Default: the limit that all requests of the sender share. */
  readonly inFlight?: InFlightLimit;
  /** Whether a failure is an expected response, such as that a resource does not exist; metrics count it as ok. */
  readonly isAnswer?: (error: unknown) => boolean;
}

/**
 * Sends a request: at the rate that the cloud grants, within the limit of requests in flight, with metrics, and with up to three attempts. Throttled attempts do not count:
 * the request waits for its turn until the call has no time left.
 *
 * Rejects with the reason of the signal, with the error of the last attempt, and with MachineError Unavailable when the deadline of the call comes before its turn.
 *
 * @param send makes one attempt
 */
export type RequestSender = <T>(request: SentRequest, send: () => Promise<T>) => Promise<T>;

const defaultMaxInFlight = 20;

/** Errors of requests whose earlier attempt may have succeeded. */
const uncertain = new WeakSet<object>();

/** Whether an earlier attempt of a request that failed with this error may have succeeded. */
export const mayHaveSucceededBefore = (error: unknown): boolean =>
  typeof error === "object" && error !== null && uncertain.has(error);

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown; readonly failure: AttemptFailure };

/** Creates the sender of one session. */
export function createRequestSender(options: RequestSenderOptions): RequestSender {
  const { cloud, clock, random, reportApiCall, readFailure } = options;
  const shared = createInFlightLimit(options.maxInFlight ?? defaultMaxInFlight);
  const rates = new Map<string, RateLimit>();
  const rateOf = (action: string): RateLimit => {
    const known = rates.get(action) ?? createRateLimit({ cloud, action, clock, random });
    rates.set(action, known);
    return known;
  };

  /** One attempt; its failure is a value, because several places need it. */
  const attempt = async <T>(
    { service, signal, isAnswer }: SentRequest,
    send: () => Promise<T>,
  ): Promise<Attempt<T>> => {
    signal.throwIfAborted();
    const startMs = clock.monotonicMs();
    const report = (outcome: string): void =>
      reportApiCall?.({ service, outcome, seconds: (clock.monotonicMs() - startMs) / 1_000 });
    try {
      const value = await send();
      report("ok");
      return { ok: true, value };
    } catch (error) {
      const failure = readFailure(error);
      report(signal.aborted ? "aborted" : isAnswer?.(error) === true ? "ok" : failure.outcome);
      signal.throwIfAborted();
      return { ok: false, error, failure };
    }
  };

  return async (request, send) => {
    const { service, action = service, signal, inFlight = shared } = request;
    const rate = rateOf(action);
    const ticket = rate.ticket();
    let attempts = 0;
    try {
      for (;;) {
        await rate.turn(ticket, signal);
        const ended = await inFlight(signal, async () => (rate.take(ticket) ? attempt(request, send) : undefined));
        if (ended === undefined) continue;
        if (ended.ok) {
          rate.accepted(ticket);
          return ended.value;
        }
        const { error, failure } = ended;
        const { kind, retryAfterMs = 0 } = failure;
        if (kind === "throttled") {
          rate.rejected(ticket, failure.outcome, retryAfterMs);
          continue;
        }
        if (kind === "final") rate.accepted(ticket);
        attempts++;
        if (kind === "final" || attempts >= maxAttempts || retryAfterMs > longestRetryPauseMs) {
          if (attempts > 1 && error instanceof Error) uncertain.add(error);
          throw error;
        }
        await clock.sleep(Math.max(retryAfterMs, retryPauseMs(attempts, random)), signal);
      }
    } finally {
      rate.leave(ticket);
    }
  };
}
