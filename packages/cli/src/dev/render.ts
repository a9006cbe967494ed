import { styleText } from "node:util";
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

const headings = ["MACHINE", "PHASE", "NODE", "VM", "AGE"] as const;

const cells = ({ name, phase, node, vm, ageSeconds }: FleetRow): readonly string[] => [
  name,
  phase,
  node || "-",
  vm || "-",
  `${ageSeconds}s`,
];

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
  const shown = fleet.machines.slice(0, Math.max(1, rows));
  const table = columns([headings, ...shown.map(cells)], (text, row, column) => {
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
