import { type Clock, wallTimeOf } from "@millwright/base";
import { isApiError } from "./api-error.ts";
import type { Connectivity } from "./connectivity.ts";

/** What {@link createServerProof} needs. */
export interface ServerProofOptions {
  readonly clock: Clock;
  /** After this time without a response the server counts as unreachable, milliseconds. */
  readonly lostAfterMs: number;
  /** Whether some timeout depends on the server now. Only then it is asked. */
  readonly isNeeded: () => boolean;
  /** Sends a cheap read, with a deadline in milliseconds. Resolves with whether the server responded; never rejects. */
  readonly probe: (timeoutMs: number, signal: AbortSignal) => Promise<boolean>;
  /** Called once when the server has not responded for that long. */
  readonly onLost: () => void;
  /** Called when it responds again after that. */
  readonly onRegained: (lostForMs: number) => void;
}

/** What is known of a server while timeouts depend on it. */
export interface ServerProofView {
  readonly isLost: boolean;
  /** No response of the last moments shows that the cache is up to date: no timeout may expire. */
  readonly isUnproven: boolean;
  /** When it responded again after a loss, by the monotonic clock. */
  readonly regainedMs: number | undefined;
}

/** Proof that an API server responds. */
export interface ServerProof {
  view(): ServerProofView;
  /** Asks the server as long as it is needed; resolves when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Proves that an API server responds, while timeouts of unhealthy machines depend on it. A server that accepts connections and answers nothing is as silent as one on
 * which nothing changes: a watch shows the difference only after a minute and more. MCM asks as well (`pkg/controller/machine_safety.go` checkAPIServer), but all the time.
 */
export function createServerProof(options: ServerProofOptions): ServerProof {
  const { clock, lostAfterMs, isNeeded, probe, onLost, onRegained } = options;
  const periodMs = lostAfterMs / 3;
  /** Times of the monotonic clock. Since when it is needed without a break; undefined while it is not. */
  let neededMs: number | undefined;
  let provenMs: number | undefined;
  let regainedMs: number | undefined;
  let isReported = false;

  const silentMs = (): number =>
    neededMs === undefined ? 0 : clock.monotonicMs() - Math.max(neededMs, provenMs ?? neededMs);
  const isLost = (): boolean => silentMs() > lostAfterMs;

  async function once(signal: AbortSignal): Promise<void> {
    const responded = await probe(periodMs, signal);
    if (signal.aborted) return;
    const lostForMs = silentMs();
    if (!responded) {
      if (isReported || !isLost()) return;
      isReported = true;
      return onLost();
    }
    provenMs = clock.monotonicMs();
    isReported = false;
    if (lostForMs <= lostAfterMs) return;
    regainedMs = provenMs;
    onRegained(lostForMs);
  }

  return {
    view: () => ({
      isLost: isLost(),
      isUnproven: neededMs !== undefined && (provenMs === undefined || clock.monotonicMs() - provenMs > 2 * periodMs),
      regainedMs,
    }),
    async run(signal) {
      while (!signal.aborted) {
        if (isNeeded()) {
          neededMs ??= clock.monotonicMs();
          await once(signal);
        } else if (!isLost()) {
          neededMs = undefined;
          provenMs = undefined;
        }
        if (!signal.aborted) await clock.sleep(periodMs, signal).catch(() => undefined);
      }
      neededMs = undefined;
    },
  };
}

/** Whether the answer to a read proves that a server responds, although it failed: one that rejects the request responds; one whose storage does not, answers with 5xx. */
export const isRejection = (error: unknown): boolean => isApiError(error) && error.status >= 400 && error.status < 500;

/** Whether several caches are up to date. */
export interface ConnectivityView {
  /** The API server of one of them has been unreachable for a while: its cache may be out of date. */
  readonly isLost: boolean;
  /** When connectivity was restored after a loss; wall clock, milliseconds, as if the clock had never jumped. Undefined without a loss since the start. */
  readonly regainedAt: number | undefined;
  /** An API server has not responded in the last moments, or was not asked yet: no timeout may expire. Default: false. */
  readonly isUnproven?: boolean;
}

/** What {@link createConnectivityWatch} needs. */
interface ConnectivityWatchOptions {
  /** Of the caches from which health is computed. */
  readonly connectivity: readonly Connectivity[];
  /** Of their API servers. */
  readonly proofs?: readonly Pick<ServerProof, "view">[];
  readonly clock: Clock;
  /** A shorter interruption does not count, milliseconds. */
  readonly lostAfterMs: number;
  /** Called when connectivity has been lost for that long. */
  readonly onLost: () => void;
  /** Called when the last connectivity that was lost is restored. */
  readonly onRegained: (lostForMs: number) => void;
}

/**
 * Watches whether the caches reach their API servers. A timeout that ran without connectivity does not show that the node is unhealthy: it restarts when
 * connectivity is restored. At the start of a process the time until the first list counts, too.
 */
export function createConnectivityWatch(options: ConnectivityWatchOptions): () => ConnectivityView {
  const { connectivity, proofs = [], clock, lostAfterMs, onLost, onRegained } = options;
  const isLost = (): boolean => connectivity.some((each) => each.lostForMs() > lostAfterMs);
  /** Time of the monotonic clock. */
  let regainedMs: number | undefined;
  for (const each of connectivity) {
    each.onLost(lostAfterMs, onLost);
    each.onRegained((lostForMs) => {
      if (lostForMs <= lostAfterMs) return;
      regainedMs = clock.monotonicMs();
      if (!isLost()) onRegained(lostForMs);
    });
  }
  return () => {
    const views = proofs.map((proof) => proof.view());
    const regained = [regainedMs, ...views.map((view) => view.regainedMs)].filter((time) => time !== undefined);
    return {
      isLost: isLost() || views.some((view) => view.isLost),
      regainedAt: regained.length === 0 ? undefined : wallTimeOf(clock, Math.max(...regained)),
      ...(views.some(({ isUnproven }) => isUnproven) ? { isUnproven: true } : {}),
    };
  };
}
