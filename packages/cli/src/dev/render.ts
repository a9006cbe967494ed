import { styleText } from "node:util";
import { ageText } from "../terminal/age-text.ts";
import type { Fleet, FleetRow } from "./fleet.ts";

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

/** The columns of the table. A node mostly has the name of its machine: then it has no column. */
function cellsOf(machines: readonly FleetRow[]): readonly (readonly string[])[] {
  const hasNodes = machines.some(({ name, node }) => node !== "" && node !== name);
  const ofNode = (text: string): readonly string[] => (hasNodes ? [text] : []);
  return [
    ["MACHINE", "PHASE", ...ofNode("NODE"), "VM", "AGE"],
    ...machines.map(({ name, phase, node, vm, ageSeconds }) => [
      name,
      phase,
      ...ofNode(node || "-"),
      vm || "-",
      ageText(ageSeconds),
    ]),
  ];
}

/** Rows of text with columns as wide as their content; `paint` colours a cell after it has its width. */
function columns(
  rows: readonly (readonly string[])[],
  paint: (text: string, row: number, column: number) => string,
): readonly string[] {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row, y) =>
    `  ${row.map((cell, x) => paint(cell.padEnd(widths[x] ?? 0), y, x)).join("  ")}`.trimEnd(),
  );
}

/** A text on one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** A text cut to what fits on a line, so that the screen is redrawn over the same number of lines. */
const cut = (text: string, width: number): string => {
  const line = oneLine(text);
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
};

/** Maximum number of machines whose cause is shown. */
const MAX_CAUSES = 4;

/** Phases that need no explanation. */
const settled: ReadonlySet<string> = new Set(["Running", "Available"]);

/** Machines that need an explanation, failed ones first. */
const inQuestion = (machines: readonly FleetRow[]): readonly FleetRow[] =>
  machines
    .filter(({ phase, cause, isFailing }) => cause !== "" && (isFailing || !settled.has(phase)))
    .toSorted((a, b) => Number(b.isFailing) - Number(a.isFailing))
    .slice(0, MAX_CAUSES);

/** The live screen: deployments, the table of machines, and below it why machines are not Running. */
export function renderFleet(fleet: Fleet, width: number, rows: number): string {
  const machines = fleet.machines.toSorted((a, b) => Number(b.isFailing) - Number(a.isFailing));
  const shown = machines.slice(0, Math.max(1, rows));
  const table = columns(cellsOf(shown), (text, row, column) => {
    if (row === 0) return styleText("dim", text);
    return column === 1 ? styleText(phaseColors[text.trim()] ?? "white", text) : text;
  });
  const hidden = fleet.machines.length - shown.length;
  return [
    ...fleet.deployments.map((line) => `  ${styleText("bold", "MachineDeployment")} ${cut(line, width - 20)}`),
    "",
    ...(fleet.machines.length === 0 ? ["  no machines"] : table),
    ...(hidden > 0 ? [`  … and ${hidden} more`] : []),
    ...inQuestion(shown).map(
      ({ name, cause, isFailing }) =>
        `  ${isFailing ? styleText("red", "!") : styleText("cyan", "·")} ${cut(`${name}: ${cause}`, width - 4)}`,
    ),
  ].join("\n");
}
