import { type Clock, wallTimeOf } from "@millwright/base";
import { MachineError } from "@millwright/core";
import type { NodeTemplate } from "@millwright/core/machine-api";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import type { DriverOutcome } from "../model/driver-port.ts";
import type { CapacityAnswer } from "./decide-capacity.ts";

/** A lookup to start. */
export interface CapacityLookup {
  /** Version of the inputs: of the class and its secrets. */
  readonly inputs: string;
  readonly lookUp: (signal: AbortSignal) => Promise<DriverOutcome<NodeTemplate>>;
  /** Called once when the lookup has ended. */
  readonly enqueue: () => void;
}

type FailedAnswer = CapacityAnswer & { readonly state: "failed" };

/** As {@link CapacityAnswer}, with the time of a failure by the monotonic clock. */
type StoredAnswer =
  | Exclude<CapacityAnswer, FailedAnswer>
  | (Omit<FailedAnswer, "endedAt"> & { readonly endedAtMs: number });

interface Entry {
  inputs: string;
  answer: StoredAnswer;
  failures: number;
  reportedText?: string;
  readonly abort: AbortController;
}

/** Maximum concurrent lookups: there are many when the process starts, and none is urgent. */
const mostAtOnce = 4;

const textOf = ({ code, message }: Pick<FailedAnswer, "code" | "message">): string => `${code}: ${message}`;

/** Runs driver calls about classes outside of the queue, at most one at a time per class, and keeps their last results: a call may take minutes and must not block a worker. A restart repeats lookups whose results are not stored. */
export function createCapacityLookups(clock: Clock) {
  const entries = new Map<string, Entry>();
  const running = new Set<Promise<void>>();
  const limit = createInFlightLimit(mostAtOnce);
  let isClosed = false;

  const run = async (uid: string, entry: Entry, { lookUp, enqueue }: CapacityLookup): Promise<void> => {
    const { signal } = entry.abort;
    const outcome = await limit(signal, () => lookUp(signal)).catch((cause: unknown): DriverOutcome<NodeTemplate> => ({
      ok: false,
      error: new MachineError("Internal", "the lookup failed without a result", { cause }),
    }));
    if (signal.aborted || entries.get(uid) !== entry) return;
    if (outcome.ok) {
      entry.answer = { state: "known", nodeTemplate: outcome.value };
      entry.failures = 0;
    } else {
      const { code, message, retryAfterMs } = outcome.error;
      const isReported = entry.reportedText === textOf(outcome.error);
      const ended = { failures: ++entry.failures, endedAtMs: clock.monotonicMs() };
      entry.answer = { state: "failed", code, message, retryAfterMs, isReported, ...ended };
    }
    enqueue();
  };

  const answerOf = (stored: StoredAnswer): CapacityAnswer => {
    if (stored.state !== "failed") return stored;
    const { endedAtMs, ...failed } = stored;
    return { ...failed, endedAt: wallTimeOf(clock, endedAtMs) };
  };

  return {
    /** The result for these inputs. */
    answerTo(uid: string, inputs: string): CapacityAnswer {
      const entry = entries.get(uid);
      if (entry === undefined) return { state: "notRequested" };
      // Its result is obsolete, but it has to end before the next one starts.
      if (entry.answer.state === "inProgress") return entry.answer;
      return entry.inputs === inputs ? answerOf(entry.answer) : { state: "notRequested" };
    },
    /** Starts a lookup, unless one of the class is in progress. */
    start(uid: string, lookup: CapacityLookup): void {
      const known = entries.get(uid);
      if (isClosed || known?.answer.state === "inProgress") return;
      const entry: Entry = {
        inputs: lookup.inputs,
        answer: { state: "inProgress" },
        failures: known?.inputs === lookup.inputs ? known.failures : 0,
        ...(known?.reportedText === undefined ? {} : { reportedText: known.reportedText }),
        abort: new AbortController(),
      };
      entries.set(uid, entry);
      const ended = run(uid, entry, lookup).finally(() => running.delete(ended));
      running.add(ended);
    },
    /** The failure has been reported; it is reported again only when its message changes. */
    markReported(uid: string): void {
      const entry = entries.get(uid);
      if (entry?.answer.state !== "failed") return;
      entry.reportedText = textOf(entry.answer);
      entry.answer = { ...entry.answer, isReported: true };
    },
    /** The class is deleted. */
    forget(uid: string): void {
      entries.get(uid)?.abort.abort(new Error("the class is deleted"));
      entries.delete(uid);
    },
    /** Aborts lookups; resolves when they have ended. */
    async close(): Promise<void> {
      isClosed = true;
      for (const { abort } of entries.values()) abort.abort(new Error("the process is stopping"));
      await Promise.all(running);
    },
  };
}
