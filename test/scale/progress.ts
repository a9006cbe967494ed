/** Shows what a long run is doing: on a terminal in one line that is replaced, elsewhere as a line for each step and every five seconds of it. */
export interface Progress {
  /** `STEP` or `STEP: DETAILS`. */
  report(text: string): void;
  /** Ends the line. */
  clear(): void;
}

const TERMINAL_MS = 200;
const LOG_MS = 5_000;

/** Creates it for a stream; `now` in milliseconds. */
export function createProgress(
  stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown },
  prefix: string,
  now: () => number,
): Progress {
  const isTerminal = stream.isTTY === true;
  const startedMs = now();
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastStep = "";
  return {
    report(text) {
      const ms = now();
      const [step = ""] = text.split(":");
      const isNewLine = !isTerminal && step !== lastStep;
      if (!isNewLine && ms - lastMs < (isTerminal ? TERMINAL_MS : LOG_MS)) return;
      lastMs = ms;
      lastStep = step;
      const line = `${prefix} ${Math.round((ms - startedMs) / 1000)} s: ${text}`;
      stream.write(isTerminal ? `\r\u001B[K${line.slice(0, (stream.columns ?? 80) - 1)}` : `${line}\n`);
    },
    clear() {
      if (isTerminal) stream.write("\r\u001B[K");
    },
  };
}
