import xterm from "@xterm/headless";
import type { Recording } from "./recording.ts";

/** A piece of a line whose characters look the same. */
export interface Run {
  readonly column: number;
  readonly text: string;
  /** Index in the palette of the terminal; absent: as text mostly is. */
  readonly color?: number;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverse: boolean;
}

/** What is on the terminal from a time on. */
export interface Screen {
  /** Since the beginning, seconds. */
  readonly at: number;
  readonly caption: string;
  /** Runs of each line, from the top. */
  readonly lines: readonly (readonly Run[])[];
}

type Terminal = InstanceType<typeof xterm.Terminal>;

/** The visible cells of a line, joined where they look the same. */
function runsOf(terminal: Terminal, row: number): readonly Run[] {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row);
  const runs: Run[] = [];
  const width = line?.translateToString(true).length ?? 0;
  for (let column = 0; column < width; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined) break;
    const look = {
      ...(cell.isFgPalette() ? { color: cell.getFgColor() } : {}),
      isBold: cell.isBold() !== 0,
      isDim: cell.isDim() !== 0,
      isInverse: cell.isInverse() !== 0,
    };
    const text = cell.getChars() || " ";
    const last = runs.at(-1);
    const isSame =
      last?.color === look.color &&
      last?.isBold === look.isBold &&
      last.isDim === look.isDim &&
      last.isInverse === look.isInverse;
    if (last !== undefined && isSame) runs[runs.length - 1] = { ...last, text: last.text + text };
    else runs.push({ column, text, ...look });
  }
  return runs.filter(({ text, isInverse }) => isInverse || text.trim() !== "");
}

/** Plays a recording on a terminal: a screen for each time at which something is written. */
export async function screensOf({ columns, rows, events }: Recording): Promise<readonly Screen[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  const screens: Screen[] = [];
  let caption = "";
  for (const [index, { at, kind, text }] of events.entries()) {
    if (kind === "caption") caption = text;
    else await new Promise<void>((resolve) => terminal.write(text, resolve));
    if (events[index + 1]?.at === at) continue;
    screens.push({ at, caption, lines: Array.from({ length: rows }, (_, row) => runsOf(terminal, row)) });
  }
  terminal.dispose();
  return screens;
}

/** The text of a line. */
const lineText = (runs: readonly Run[]): string =>
  runs.reduce((line, { column, text }) => line.padEnd(column) + text, "").trimEnd();

/** The text of a screen. */
export const textOf = ({ lines }: Screen): string => lines.map(lineText).join("\n").trimEnd();
