import { styleText } from "node:util";
import { cutToWidth, displayWidth } from "../terminal/display-width.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import type { Fleet, FleetRow } from "./fleet.ts";
import { cellText, renderTable } from "./table.ts";

/** Everything that is on the screen. */
export interface DevScreen {
  readonly fleet: Fleet;
  /** Where everything is. */
  readonly header: readonly string[];
  /** Commands to try. */
  readonly help: readonly string[];
  readonly isHelpShown: boolean;
  /** Whether keys can be read. */
  readonly hasKeys: boolean;
  /** Cells of the terminal. */
  readonly size: { readonly columns: number; readonly rows: number };
}

/** Lines that the table needs beside the commands to try. */
const MIN_FLEET_ROWS = 12;

/** A lower terminal has no header. */
const MIN_ROWS_WITH_HEADER = 16;

/** Maximum number of machines whose cause is shown. */
const MAX_CAUSES = 4;

/** From this height on, a cause may have two lines. */
const MIN_ROWS_FOR_LONG_CAUSES = 18;

/** Phases that need no explanation. */
const settled: ReadonlySet<string> = new Set(["Running", "Available"]);

/** Machines that need an explanation. */
const needsExplanation = ({ phase, cause, isFailing }: FleetRow): boolean =>
  cause !== "" && (isFailing || !settled.has(phase));

/** Machines with the same cause, in a line, or in two where there is room. */
function causeLines([first, ...others]: readonly FleetRow[], width: number, hasRoom: boolean): readonly string[] {
  if (first === undefined) return [];
  const { name, cause, isFailing } = first;
  const text = cellText(`${name}${others.length === 0 ? "" : ` and ${others.length} more`}: ${cause}`);
  const [start = "", ...rest] = hasRoom ? wrapText(text, width - 4) : [text];
  const mark = isFailing ? styleText("red", "!") : styleText("cyan", "·");
  return [
    `  ${mark} ${cutToWidth(start, width - 4)}`,
    ...(rest.length === 0 ? [] : [`    ${cutToWidth(rest.join(" "), width - 4)}`]),
  ];
}

/** As many lines as there is room for; the last one counts those that are left out. */
const limitLines = (lines: readonly string[], max: number, width: number): readonly string[] =>
  lines.length <= max
    ? lines
    : [...lines.slice(0, max - 1), cutToWidth(`  … and ${lines.length - max + 1} more`, width)];

/** One line of a deployment. On a narrow terminal its kind is left out, and its counts are kept. */
const deploymentLine = (text: string, width: number): string => {
  const line = `  MachineDeployment ${cellText(text)}`;
  return displayWidth(line) <= width ? line : cutToWidth(`  ${cellText(text)}`, width);
};

/** Deployments, the table of machines with failing ones first, and below it why machines are not Running. */
export function renderFleet(fleet: Fleet, width: number, rows: number): readonly string[] {
  const machines = fleet.machines.toSorted((a, b) => Number(b.isFailing) - Number(a.isFailing));
  const deployments = limitLines(
    fleet.deployments.map((text) => deploymentLine(text, width)),
    Math.max(1, Math.floor(rows / 3)),
    width,
  );
  const above = deployments.length === 0 ? [] : [...deployments, ""];
  if (machines.length === 0) return [...above, cutToWidth("  no machines", width)].slice(0, rows);
  const causes = [...Map.groupBy(machines.filter(needsExplanation), ({ cause }) => cause).values()]
    .slice(0, Math.min(MAX_CAUSES, Math.floor(rows / 4)))
    .flatMap((alike) => causeLines(alike, width, rows >= MIN_ROWS_FOR_LONG_CAUSES));
  const room = Math.max(1, rows - above.length - 1 - causes.length);
  const [titles = "", ...lines] = renderTable(machines.slice(0, room), width);
  const hidden = machines.slice(lines.length).map(() => "");
  return [...above, titles, ...limitLines([...lines, ...hidden], room, width), ...causes].slice(0, rows);
}

const headerOf = ({ header, size }: Pick<DevScreen, "header" | "size">): readonly string[] =>
  size.rows < MIN_ROWS_WITH_HEADER ? [] : header;

/** Lines between the header and the keys. */
const roomOf = (screen: Pick<DevScreen, "header" | "size">): number =>
  Math.max(0, screen.size.rows - headerOf(screen).length - 1);

/** Whether the commands to try fit beside the table; else they take its place. */
export const hasRoomForHelp = (screen: Pick<DevScreen, "header" | "help" | "size">): boolean =>
  screen.help.length + MIN_FLEET_ROWS <= roomOf(screen);

/** The screen, from the top: each line fits into its width, and the last one has the keys. */
export function renderDev(screen: DevScreen): readonly string[] {
  const { fleet, isHelpShown, hasKeys, size } = screen;
  const room = roomOf(screen);
  const help = (isHelpShown ? screen.help : []).slice(0, room).map((line) => cutToWidth(line, size.columns));
  const hasTable = !isHelpShown || hasRoomForHelp(screen);
  const body = [...help, ...(hasTable ? renderFleet(fleet, size.columns, room - help.length) : [])];
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => "");
  const key = isHelpShown ? "? hide commands" : "? commands";
  const keys = `${hasKeys ? `${key}  ` : ""}Ctrl-C stops everything`;
  return [
    ...headerOf(screen).map((line) => cutToWidth(line, size.columns)),
    ...body,
    ...blank,
    styleText("dim", cutToWidth(keys, size.columns)),
  ];
}
