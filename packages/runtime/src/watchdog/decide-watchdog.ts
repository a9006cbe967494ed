/** Something that has a deadline and has not ended. */
export interface RunningOperation {
  readonly kind: "driver call" | "reconcile";
  /** Names it. */
  readonly what: string;
  /** For how long, milliseconds. */
  readonly ms: number;
  /** Its deadline, milliseconds: it should have ended by then. */
  readonly deadlineMs: number;
}

/** A cache that has had its first list. */
export interface CacheVitals {
  readonly name: string;
  /** For how long it has not been up to date, milliseconds; 0 if it is. */
  readonly lostForMs: number;
  /** For how long there was no event, bookmark, response or attempt, milliseconds. */
  readonly silentForMs: number;
  /** How many it holds. */
  readonly objects: number;
}

/** What is measured of a process. */
export interface Vitals {
  readonly operations: readonly RunningOperation[];
  readonly caches: readonly CacheVitals[];
  /** Shares of memory that are in use, from 0 to 1, by the limit that they are of. */
  readonly memory: Readonly<Record<string, number>>;
}

/** From when on a process is restarted. */
export interface WatchdogLimits {
  /** How long an operation may take, and a cache may be without any activity, milliseconds. 0: for ever. */
  readonly stuckMs: number;
  /** Share of memory, from 0 to 1. 0: no limit. */
  readonly memoryShare: number;
}

/** What is wrong with the process. */
export interface WatchdogProblem {
  readonly kind: "operation" | "cache" | "memory";
  /** What it is about: the same in each decision while the problem lasts. */
  readonly subject: string;
  /** One sentence, with times. */
  readonly message: string;
  /** Whether a restart is the only remedy that is left. */
  readonly needsRestart: boolean;
}

/** What follows. */
export interface WatchdogDecision {
  readonly state: "healthy" | "degraded" | "restart";
  readonly problems: readonly WatchdogProblem[];
  /** Since when memory has been above its limit; monotonic clock. Input of the next decision. */
  readonly memorySinceMs: number | undefined;
}

/** An operation that is over its deadline may still notice it. Milliseconds. */
const GRACE_MS = 60_000;

/** A watch has an event or a bookmark at least every minute, and each attempt a deadline. Milliseconds. */
const CACHE_MS = 180_000;

/** Memory is freed late: above the limit for so long, it is in use. Milliseconds. */
const MEMORY_MS = 30_000;

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

/** From when on something is a problem: after `ms`, and before the restart. */
const earlier = (ms: number, stuckMs: number): number => (stuckMs === 0 ? ms : Math.min(ms, stuckMs / 2));

const isStuck = (ms: number, stuckMs: number): boolean => stuckMs > 0 && ms >= stuckMs;

function operationProblems(operations: readonly RunningOperation[], stuckMs: number): readonly WatchdogProblem[] {
  return operations
    .filter(({ ms, deadlineMs }) => ms >= earlier(deadlineMs + GRACE_MS, stuckMs))
    .map(({ kind, what, ms, deadlineMs }) => ({
      kind: "operation",
      subject: `${kind} ${what}`,
      message: `The ${kind} ${what} has not ended after ${seconds(ms)}; its deadline is ${seconds(deadlineMs)}`,
      needsRestart: isStuck(ms, stuckMs),
    }));
}

/** A cache that fails is retried, and a restart would not help; one that does nothing at all hangs. */
function cacheProblems(caches: readonly CacheVitals[], stuckMs: number): readonly WatchdogProblem[] {
  return caches.flatMap(({ name, lostForMs, silentForMs }): readonly WatchdogProblem[] => {
    const subject = `cache of ${name}`;
    if (silentForMs >= CACHE_MS) {
      const message = `The cache of ${name} has had no event and no response for ${seconds(silentForMs)}`;
      return [{ kind: "cache", subject, message, needsRestart: isStuck(silentForMs, stuckMs) }];
    }
    if (lostForMs < CACHE_MS) return [];
    const message = `The cache of ${name} has not been up to date for ${seconds(lostForMs)}`;
    return [{ kind: "cache", subject, message, needsRestart: false }];
  });
}

/**
 * Decides whether a process works. What lasts too long degrades it, and at last calls for a restart.
 *
 * @param before the decision before this one
 * @param nowMs monotonic clock
 */
export function decideWatchdog(
  { operations, caches, memory }: Vitals,
  before: Pick<WatchdogDecision, "memorySinceMs"> | undefined,
  { stuckMs, memoryShare }: WatchdogLimits,
  nowMs: number,
): WatchdogDecision {
  const full = Object.entries(memory).filter(([, share]) => memoryShare > 0 && share >= memoryShare);
  const memorySinceMs = full.length === 0 ? undefined : (before?.memorySinceMs ?? nowMs);
  const memoryProblems = full.map(([of, share]): WatchdogProblem => ({
    kind: "memory",
    subject: `memory of the ${of}`,
    message: `${Math.floor(share * 100)}% of the memory of the ${of} is in use; the limit is ${Math.round(memoryShare * 100)}%`,
    needsRestart: memorySinceMs !== undefined && nowMs - memorySinceMs >= MEMORY_MS,
  }));
  const problems = [...operationProblems(operations, stuckMs), ...cacheProblems(caches, stuckMs), ...memoryProblems];
  const state = problems.some(({ needsRestart }) => needsRestart)
    ? "restart"
    : problems.length > 0
      ? "degraded"
      : "healthy";
  return { state, problems, memorySinceMs };
}
