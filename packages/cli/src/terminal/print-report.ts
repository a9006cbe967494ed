import type { Clock } from "@millwright/core";

/** Formats of a report. */
export type ReportFormat = "text" | "json" | "yaml";

/** Renders a report in a format. */
export async function renderReport<T>(report: T, format: ReportFormat, render: (report: T) => string): Promise<string> {
  if (format === "json") return `${JSON.stringify(report, undefined, 2)}\n`;
  if (format === "text") return render(report);
  const { stringify } = await import("yaml");
  return stringify(report, { aliasDuplicateObjects: false });
}

/** How often `--watch` reads, milliseconds. */
const WATCH_MS = 2_000;

const CLEAR = "\u001B[H\u001B[2J";

/** A text, and what it was made from: the text has times that pass. */
export interface WatchedText {
  readonly text: string;
  readonly key: string;
}

/**
 * Prints a text until the signal is aborted: on a terminal instead of the one before, else below it when what it was made from has changed.
 *
 * @throws whatever the first read throws; later failures are printed, and the read is repeated
 */
export async function watchText(
  read: () => Promise<WatchedText>,
  {
    clock,
    signal,
    output = process.stdout,
  }: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly output?: Pick<NodeJS.WriteStream, "isTTY" | "write">;
  },
): Promise<void> {
  let shown: string | undefined;
  const print = ({ text, key }: WatchedText): void => {
    if (output.isTTY) output.write(`${CLEAR}${text}`);
    else if (key !== shown) output.write(`${shown === undefined ? "" : "\n"}${text}`);
    shown = key;
  };
  print(await read());
  while (!signal.aborted) {
    await clock.sleep(WATCH_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const next = await read().catch((error: unknown) => {
      const text = `${error instanceof Error ? error.message : String(error)}\n`;
      return { text, key: text };
    });
    if (!signal.aborted) print(next);
  }
}
