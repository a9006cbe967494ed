/** Shows what a long run is doing: on a terminal in one line that is replaced, elsewhere as a line every five seconds. */
export interface Progress {
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
  return {
    report(text) {
      const ms = now();
      if (ms - lastMs < (isTerminal ? TERMINAL_MS : LOG_MS)) return;
      lastMs = ms;
      const line = `${prefix} ${Math.round((ms - startedMs) / 1000)} s: ${text}`;
      stream.write(isTerminal ? `\r\u001B[K${line.slice(0, (stream.columns ?? 80) - 1)}` : `${line}\n`);
    },
    clear() {
      if (isTerminal) stream.write("\r\u001B[K");
    },
  };
}
