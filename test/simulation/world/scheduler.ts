import type { Clock, Random, Timer } from "@millwright/base";
import { normalizeDelayMs, sleepWith } from "@millwright/core/testing";

/** The part of the world whose timers live and die together: a process, the network, the cloud. */
export interface Scope {
  readonly name: string;
  /** The clock of whatever runs in the scope. Its wall time may be wrong; its durations are right. */
  readonly clock: Clock;
  readonly isDead: () => boolean;
  /** Nothing of the scope ever runs again: what it waits for never comes. */
  kill(): void;
  /** Nothing of the scope runs for so long; what was due meanwhile runs then. */
  stall(ms: number): void;
  /** Sets the wall clock of the scope this far ahead of the true time, milliseconds. */
  skew(ms: number): void;
}

/** The one order of everything that happens. */
export interface Scheduler {
  /** Makes a {@link Scope}. */
  scope(name: string): Scope;
  /** True time since the start, milliseconds. */
  nowMs(): number;
  /** Runs everything that is due until then, each thing to its end before the next one. Stops early when `isOver` holds. */
  runUntil(ms: number, isOver?: () => boolean): Promise<void>;
  /** Timers that fired so far. */
  readonly steps: () => number;
  /** Forgets all that is due: nothing ever runs again. */
  clear(): void;
}

/** The time at which each simulation begins. */
export const simulationStart = new Date("2026-01-01T00:00:00Z");

interface Entry {
  dueMs: number;
  /** Of what is due at the same instant, the lowest comes first. */
  readonly tie: number;
  readonly sequence: number;
  readonly run: () => void;
  readonly scope: ScopeState;
  isCanceled: boolean;
}

interface ScopeState {
  isDead: boolean;
  stalledUntilMs: number;
  skewMs: number;
}

/** More things in one millisecond are an endless loop. */
const mostAtOneInstant = 50_000;

const isBefore = (a: Entry, b: Entry): boolean => {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  return a.tie === b.tie ? a.sequence < b.sequence : a.tie < b.tie;
};

/** Promise chains and callbacks that are ready run: none of them waits for a turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A binary heap of entries, the first one on top. */
function createHeap() {
  const entries: Entry[] = [];
  const swap = (a: number, b: number): void => {
    const [first, second] = [entries[a], entries[b]];
    if (first === undefined || second === undefined) return;
    entries[a] = second;
    entries[b] = first;
  };
  const isOrdered = (parent: number, child: number): boolean => {
    const [above, below] = [entries[parent], entries[child]];
    return above === undefined || below === undefined || isBefore(above, below);
  };
  return {
    top: (): Entry | undefined => entries[0],
    clear: (): void => void entries.splice(0),
    push(entry: Entry): void {
      entries.push(entry);
      for (let at = entries.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (isOrdered(parent, at)) return;
        swap(at, parent);
        at = parent;
      }
    },
    pop(): Entry | undefined {
      const [top] = entries;
      const last = entries.pop();
      if (last === undefined || entries.length === 0) return top;
      entries[0] = last;
      for (let at = 0; ;) {
        const left = 2 * at + 1;
        const smaller = left + 1 < entries.length && isOrdered(left + 1, left) ? left + 1 : left;
        if (smaller >= entries.length || isOrdered(at, smaller)) return top;
        swap(at, smaller);
        at = smaller;
      }
    },
  };
}

/** Makes a {@link Scheduler}. The random source orders what is due at the same instant. */
export function createScheduler(random: Random): Scheduler {
  const heap = createHeap();
  let elapsedMs = 0;
  let sequence = 0;
  let steps = 0;

  const setTimer = (scope: ScopeState, ms: number, run: () => void): Timer => {
    if (scope.isDead) return { cancel: () => undefined };
    const dueMs = elapsedMs + Math.ceil(normalizeDelayMs(ms));
    const entry: Entry = { dueMs, tie: random.next(), sequence: sequence++, run, scope, isCanceled: false };
    heap.push(entry);
    return { cancel: () => void (entry.isCanceled = true) };
  };

  return {
    scope(name) {
      const state: ScopeState = { isDead: false, stalledUntilMs: 0, skewMs: 0 };
      const set = (ms: number, run: () => void): Timer => setTimer(state, ms, run);
      return {
        name,
        clock: Object.freeze({
          now: () => new Date(simulationStart.getTime() + elapsedMs + state.skewMs),
          monotonicMs: () => elapsedMs,
          setTimer: set,
          sleep: (ms: number, signal?: AbortSignal) => sleepWith(set, ms, signal),
        }),
        isDead: () => state.isDead,
        kill: () => void (state.isDead = true),
        stall: (ms) => void (state.stalledUntilMs = elapsedMs + ms),
        skew: (ms) => void (state.skewMs = ms),
      };
    },
    nowMs: () => elapsedMs,
    async runUntil(untilMs, isOver = () => false) {
      await turn();
      let atThisInstant = 0;
      for (let next = heap.top(); next !== undefined && next.dueMs <= untilMs; next = heap.top()) {
        heap.pop();
        if (next.isCanceled || next.scope.isDead) continue;
        if (next.scope.stalledUntilMs > next.dueMs) {
          next.dueMs = next.scope.stalledUntilMs;
          heap.push(next);
          continue;
        }
        atThisInstant = next.dueMs === elapsedMs ? atThisInstant + 1 : 0;
        if (atThisInstant > mostAtOneInstant) throw new Error(`endless loop ${elapsedMs} ms after the start`);
        elapsedMs = next.dueMs;
        steps++;
        next.run();
        await turn();
        if (isOver()) return;
      }
      elapsedMs = Math.max(elapsedMs, untilMs);
    },
    steps: () => steps,
    clear: heap.clear,
  };
}
