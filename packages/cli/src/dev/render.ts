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

/** A text cut to what fits on a line, so that the screen is redrawn over the same number of lines. */
const cut = (text: string, width: number): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
};

/** The live screen: deployments, the table of machines, and below it what is wrong with any of them. */
export function renderFleet(fleet: Fleet, width: number, rows: number): string {
  const shown = fleet.machines.slice(0, Math.max(1, rows));
  const table = columns([headings, ...shown.map(cells)], (text, row, column) => {
    if (row === 0) return styleText("dim", text);
    return column === 1 ? styleText(phaseColors[text.trim()] ?? "white", text) : text;
  });
  const hidden = fleet.machines.length - shown.length;
  const problems = shown.filter(({ problem }) => problem !== undefined).slice(0, 3);
  return [
    ...fleet.deployments.map((line) => `  ${styleText("bold", "MachineDeployment")} ${cut(line, width - 20)}`),
    "",
    ...(fleet.machines.length === 0 ? ["  no machines"] : table),
    ...(hidden > 0 ? [`  … and ${hidden} more`] : []),
    ...problems.map(({ name, problem }) => `  ${styleText("red", "!")} ${cut(`${name}: ${problem ?? ""}`, width - 4)}`),
  ].join("\n");
}
