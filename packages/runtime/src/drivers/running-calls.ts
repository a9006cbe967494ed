import { type Clock, toPrintable } from "@millwright/base";

/** A call of a driver that has not ended. */
export interface RunningCall {
  /** Method, driver, and what it is about. */
  readonly what: string;
  /** For how long, milliseconds. */
  readonly ms: number;
}

/** The calls of drivers that have not ended, abandoned ones included. */
export interface RunningCalls {
  /** Follows a call from now on. @returns ends it */
  begin(what: string): () => void;
  /** The longest first. */
  list(): readonly RunningCall[];
}

/** Makes the record. `onBegin` is called before each call: the call may block the event loop. */
export function createRunningCalls(
  clock: Pick<Clock, "monotonicMs">,
  onBegin: (what: string) => void = () => undefined,
): RunningCalls {
  // Invariant: in the order in which they began.
  const calls = new Set<{ readonly what: string; readonly startMs: number }>();
  return {
    begin(text) {
      const what = toPrintable(text);
      const call = { what, startMs: clock.monotonicMs() };
      calls.add(call);
      onBegin(what);
      return () => void calls.delete(call);
    },
    list: () => [...calls].map(({ what, startMs }) => ({ what, ms: clock.monotonicMs() - startMs })),
  };
}
