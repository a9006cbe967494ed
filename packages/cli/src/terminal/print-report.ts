import { stripVTControlCharacters } from "node:util";
import type { Clock } from "@millwright/base";

/** Formats of a report. */
export type ReportFormat = "text" | "json" | "yaml";

/** Renders a report in a format. */
export async function renderReport<T>(report: T, format: ReportFormat, render: (report: T) => string): Promise<string> {
  if (format === "json") return `${JSON.stringify(report, undefined, 2)}\n`;
  if (format === "text") return render(report);
  const { toYaml } = await import("@millwright/kube/yaml");
  return toYaml(report);
}

/** How often `--watch` reads, milliseconds. */
const WATCH_MS = 2_000;

const CLEAR = "\u001B[H\u001B[2J";

/** The part of a terminal, file or pipe that is needed. */
type WatchOutput = Pick<NodeJS.WriteStream, "isTTY" | "write" | "columns" | "rows" | "on" | "off">;

/** The beginning of a text that fits on a terminal; the last line counts those that are left out. */
async function fitRows(text: string, { columns, rows }: Pick<WatchOutput, "columns" | "rows">): Promise<string> {
  // Only a terminal that is watched needs it.
  const { displayWidth } = await import("./display-width.ts");
  const lines = text.trimEnd().split("\n");
  const taken = lines.map((line) => Math.max(1, Math.ceil(displayWidth(stripVTControlCharacters(line)) / columns)));
  // The last row is where the cursor is.
  if (taken.reduce((sum, each) => sum + each, 0) < rows) return text;
  let room = rows - 2;
  const shown = lines.filter((_, index) => (room -= taken[index] ?? 1) >= 0);
  const count = `… ${lines.length - shown.length} more lines`;
  const remedy = `${count}; enlarge the window, or leave out --watch`;
  return `${[...shown, remedy.length <= columns ? remedy : count].join("\n")}\n`;
}

/** A text, and what it was made from: the text has times that pass. */
export interface WatchedText {
  /** The text for the width that the output has now. */
  readonly text: () => Promise<string>;
  readonly key: string;
}

/**
 * Prints a text until the signal is aborted: on a terminal instead of the one before, as far as it fits, and in full at the end; else below it when what it
 * was made from has changed.
 *
 * @throws whatever the first read throws; later failures are printed, and the read is repeated
 */
export async function watchText(
  read: () => Promise<WatchedText>,
  {
    clock,
    signal,
    output = process.stdout,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly output?: WatchOutput },
): Promise<void> {
  let shown: WatchedText | undefined;
  const print = async (next: WatchedText): Promise<void> => {
    const isChanged = next.key !== shown?.key;
    const isFirst = shown === undefined;
    shown = next;
    const text = await next.text();
    if (output.isTTY) output.write(`${CLEAR}${await fitRows(text, output)}`);
    else if (isChanged) output.write(`${isFirst ? "" : "\n"}${text}`);
  };
  const redraw = (): void => void (shown !== undefined && print(shown));
  await print(await read());
  output.on("resize", redraw);
  while (!signal.aborted) {
    await clock.sleep(WATCH_MS, signal).catch(() => undefined);
    if (signal.aborted) break;
    const next = await read().catch((error: unknown) => {
      const text = `${error instanceof Error ? error.message : String(error)}\n`;
      return { text: () => Promise.resolve(text), key: text };
    });
    if (!signal.aborted) await print(next);
  }
  output.off("resize", redraw);
  if (output.isTTY && shown !== undefined) output.write(`${CLEAR}${await shown.text()}`);
}
