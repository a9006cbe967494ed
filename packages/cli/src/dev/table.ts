import { styleText } from "node:util";
import { ageText } from "../terminal/age-text.ts";
import { cutToWidth, displayWidth, fitEndToWidth, fitToWidth } from "../terminal/display-width.ts";
import { plain } from "../terminal/text.ts";
import type { FleetRow } from "./fleet.ts";

type Color = Parameters<typeof styleText>[0];

const phaseColors: Readonly<Record<string, Color>> = {
  Running: "green",
  Available: "green",
  Creating: "cyan",
  Pending: "cyan",
  Terminating: "yellow",
  Unknown: "yellow",
  CrashLoopBackOff: "red",
  Failed: "red",
};

/** A text on one line, without characters that a terminal interprets. */
export const oneLine = (text: string): string => plain(text.replaceAll(/\s+/g, " "));

/** No terminal is wider, and a message may be a megabyte long. */
const MAX_TEXT = 1_000;

/** As {@link oneLine}, of what can be seen of a text. */
export const cellText = (text: string): string => oneLine(text.slice(0, MAX_TEXT));

const textOf = {
  MACHINE: ({ name }: FleetRow) => name,
  PHASE: ({ phase }: FleetRow) => phase,
  NODE: ({ node }: FleetRow) => node || "-",
  VM: ({ vm }: FleetRow) => vm || "-",
  AGE: ({ ageSeconds }: FleetRow) => ageText(ageSeconds),
} as const;

type Column = keyof typeof textOf;

/** The columns where there is room for them, then fewer. A node mostly has the name of its machine: then it has no column. */
const layouts = (hasNodes: boolean): readonly (readonly Column[])[] => [
  ...(hasNodes ? [["MACHINE", "PHASE", "NODE", "VM", "AGE"] as const] : []),
  ["MACHINE", "PHASE", "VM", "AGE"],
  ["MACHINE", "PHASE", "AGE"],
];

const INDENT = "  ";
const MIN_NAME = 8;

/** The columns that fit, with their widths. Where the fewest ones do not fit, names lose their beginnings. */
function fitColumns(machines: readonly FleetRow[], width: number): ReadonlyMap<Column, number> {
  const widthOf = (column: Column): number =>
    Math.max(column.length, ...machines.map((row) => displayWidth(cellText(textOf[column](row)))));
  const hasNodes = machines.some(({ name, node }) => node !== "" && node !== name);
  let fitted = new Map<Column, number>();
  for (const columns of layouts(hasNodes)) {
    fitted = new Map(columns.map((column) => [column, widthOf(column)]));
    const excess = [...fitted.values()].reduce((sum, each) => sum + INDENT.length + each, 0) - width;
    if (excess <= 0) return fitted;
    fitted.set("MACHINE", Math.max(MIN_NAME, widthOf("MACHINE") - excess));
  }
  return fitted;
}

/** Rows of machines below the names of their columns, within a width. */
export function renderTable(machines: readonly FleetRow[], width: number): readonly string[] {
  const columns = [...fitColumns(machines, width)];
  const line = (cells: readonly string[]): string => cells.map((cell) => INDENT + cell).join("");
  const rows = machines.map((row) => ({
    phase: row.phase,
    cells: columns.map(([column, each]) => {
      const text = cellText(textOf[column](row));
      return column === "MACHINE" ? fitEndToWidth(text, each) : fitToWidth(text, each);
    }),
  }));
  const titles = line(columns.map(([column, each]) => fitToWidth(column, each)));
  return [
    styleText("dim", cutToWidth(titles.trimEnd(), width)),
    ...rows.map(({ phase, cells }) => {
      const text = line(cells).trimEnd();
      // Too narrow even for names without their beginnings: colors could be cut in two.
      if (displayWidth(text) > width) return cutToWidth(text, width);
      const color = phaseColors[phase] ?? "white";
      return line(cells.map((cell, index) => (index === 1 ? styleText(color, cell) : cell))).trimEnd();
    }),
  ];
}
