import { type Clock, MachineError, type NodeTemplate } from "@millwright/core";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import type { DriverOutcome } from "../model/driver-port.ts";
import type { CapacityAnswer } from "./decide-capacity.ts";

/** A question to ask. */
export interface CapacityLookup {
  /** Which answer it leads to; see {@link CapacityLookups.answerTo}. */
  readonly inputs: string;
  readonly lookUp: (signal: AbortSignal) => Promise<DriverOutcome<NodeTemplate>>;
  /** Called once when the answer is there. */
  readonly enqueue: () => void;
}

/** Questions to drivers about capacity, at most one at a time for a class, and their last answers. */
export interface CapacityLookups {
  /** What is known for these inputs: version of the class and its secrets. */
  answerTo(uid: string, inputs: string): CapacityAnswer;
  /** Asks, unless a question of the class is under way. */
  start(uid: string, lookup: CapacityLookup): void;
  /** The failure has been told. The same words are not told again. */
  markReported(uid: string): void;
  /** The class is gone. */
  forget(uid: string): void;
  /** Aborts what is under way; resolves when it has ended. */
  close(): Promise<void>;
}

interface Entry {
  inputs: string;
  answer: CapacityAnswer;
  failures: number;
  reportedText?: string;
  readonly abort: AbortController;
}

/** Questions under way at once: they are many when the process starts, and never urgent. */
const mostAtOnce = 4;

const textOf = ({ code, message }: CapacityAnswer & { readonly state: "failed" }): string => `${code}: ${message}`;

/** Keeps driver calls about classes out of the queue: a call may take minutes, a worker must not. After a restart everything is asked anew that is not written down. */
export function createCapacityLookups(clock: Clock): CapacityLookups {
  const entries = new Map<string, Entry>();
  const running = new Set<Promise<void>>();
  const limit = createInFlightLimit(mostAtOnce);
  let isClosed = false;

  const run = async (uid: string, entry: Entry, { lookUp, enqueue }: CapacityLookup): Promise<void> => {
    const { signal } = entry.abort;
    const outcome = await limit(signal, () => lookUp(signal)).catch((cause: unknown): DriverOutcome<NodeTemplate> => ({
      ok: false,
      error: new MachineError("Internal", "the question ended without an answer", { cause }),
    }));
    if (signal.aborted || entries.get(uid) !== entry) return;
    if (outcome.ok) {
      entry.answer = { state: "known", nodeTemplate: outcome.value };
      entry.failures = 0;
    } else {
      const { code, message, retryAfterMs } = outcome.error;
      const failure = {
        state: "failed",
        code,
        message,
        retryAfterMs,
        failures: ++entry.failures,
        endedAt: clock.now().getTime(),
      } as const;
      entry.answer = { ...failure, isReported: entry.reportedText === textOf({ ...failure, isReported: false }) };
    }
    enqueue();
  };

  return {
    answerTo(uid, inputs) {
      const entry = entries.get(uid);
      if (entry === undefined) return { state: "notRequested" };
      // Its answer is of no use, but it has to end before the next one begins.
      if (entry.answer.state === "inProgress") return entry.answer;
      return entry.inputs === inputs ? entry.answer : { state: "notRequested" };
    },
    start(uid, lookup) {
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
    markReported(uid) {
      const entry = entries.get(uid);
      if (entry?.answer.state !== "failed") return;
      entry.reportedText = textOf(entry.answer);
      entry.answer = { ...entry.answer, isReported: true };
    },
    forget(uid) {
      entries.get(uid)?.abort.abort(new Error("the class is gone"));
      entries.delete(uid);
    },
    async close() {
      isClosed = true;
      for (const { abort } of entries.values()) abort.abort(new Error("the process stops"));
      await Promise.all(running);
    },
  };
}
