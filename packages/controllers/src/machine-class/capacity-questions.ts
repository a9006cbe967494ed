import { type Clock, MachineError, type NodeTemplate } from "@millwright/core";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import type { DriverOutcome } from "../model/driver-port.ts";
import type { CapacityAnswer } from "./decide-capacity.ts";

/** A question to ask. */
export interface CapacityQuestion {
  /** Which answer it leads to; see {@link CapacityQuestions.answerTo}. */
  readonly inputs: string;
  readonly ask: (signal: AbortSignal) => Promise<DriverOutcome<NodeTemplate>>;
  /** Called once when the answer is there. */
  readonly wake: () => void;
}

/** Questions to drivers about capacity, at most one at a time for a class, and their last answers. */
export interface CapacityQuestions {
  /** What is known for these inputs: version of the class and its secrets. */
  answerTo(uid: string, inputs: string): CapacityAnswer;
  /** Asks, unless a question of the class is under way. */
  start(uid: string, question: CapacityQuestion): void;
  /** The failure has been told. The same words are not told again. */
  told(uid: string): void;
  /** The class is gone. */
  forget(uid: string): void;
  /** Aborts what is under way; resolves when it has ended. */
  close(): Promise<void>;
}

interface Entry {
  inputs: string;
  answer: CapacityAnswer;
  failures: number;
  toldText?: string;
  readonly abort: AbortController;
}

/** Questions under way at once: they are many when the process starts, and never urgent. */
const mostAtOnce = 4;

const textOf = ({ code, message }: CapacityAnswer & { readonly state: "failed" }): string => `${code}: ${message}`;

/** Keeps driver calls about classes out of the queue: a call may take minutes, a worker must not. After a restart everything is asked anew that is not written down. */
export function createCapacityQuestions(clock: Clock): CapacityQuestions {
  const entries = new Map<string, Entry>();
  const running = new Set<Promise<void>>();
  const limit = createInFlightLimit(mostAtOnce);
  let isClosed = false;

  const run = async (uid: string, entry: Entry, { ask, wake }: CapacityQuestion): Promise<void> => {
    const { signal } = entry.abort;
    const outcome = await limit(signal, () => ask(signal)).catch((cause: unknown): DriverOutcome<NodeTemplate> => ({
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
      entry.answer = { ...failure, isTold: entry.toldText === textOf({ ...failure, isTold: false }) };
    }
    wake();
  };

  return {
    answerTo(uid, inputs) {
      const entry = entries.get(uid);
      if (entry === undefined) return { state: "unasked" };
      // Its answer is of no use, but it has to end before the next one begins.
      if (entry.answer.state === "asking") return entry.answer;
      return entry.inputs === inputs ? entry.answer : { state: "unasked" };
    },
    start(uid, question) {
      const known = entries.get(uid);
      if (isClosed || known?.answer.state === "asking") return;
      const entry: Entry = {
        inputs: question.inputs,
        answer: { state: "asking" },
        failures: known?.inputs === question.inputs ? known.failures : 0,
        ...(known?.toldText === undefined ? {} : { toldText: known.toldText }),
        abort: new AbortController(),
      };
      entries.set(uid, entry);
      const ended = run(uid, entry, question).finally(() => running.delete(ended));
      running.add(ended);
    },
    told(uid) {
      const entry = entries.get(uid);
      if (entry?.answer.state !== "failed") return;
      entry.toldText = textOf(entry.answer);
      entry.answer = { ...entry.answer, isTold: true };
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
