import type { MachineRow } from "@millwright/dashboard/rows";
import { ageText } from "../terminal/age-text.ts";
import { cutToWidth, displayWidth, fitEndToWidth, fitToWidth } from "../terminal/display-width.ts";
import { plain } from "../terminal/text.ts";
import type { TopState } from "./state.ts";
import type { MinuteCounts } from "./throughput.ts";
import { stateOf, type TopView } from "./view.ts";

/** How a part of a line looks. */
export type Look = MachineRow["tone"] | "quiet" | "title" | "selected";

/** Everything that is on the screen. */
export interface TopScreen {
  /** Where the machines are. */
  readonly where: string;
  readonly hasAllNamespaces: boolean;
  readonly view: TopView;
  readonly state: TopState;
  /** Names of the lifecycle steps. */
  readonly steps: readonly string[];
  /** Absent where the fleet is not followed. */
  readonly minute?: MinuteCounts | undefined;
  /** Whether all machines have been read. */
  readonly hasSynced: boolean;
  /** For how long the API server has been unreachable, milliseconds. */
  readonly lostForMs: number;
  /** Why the selected machine is not as desired, or that it is being read. */
  readonly explanation: readonly string[];
  readonly now: Date;
  readonly size: { readonly columns: number; readonly rows: number };
  /** Colors a text; it has its width already. */
  readonly paint: (look: Look, text: string) => string;
}

/** From this height on, more is shown above the machines. */
const TALL_ROWS = 14;

/** Below this width, texts are shorter. */
const NARROW_COLUMNS = 60;

/** Columns of a text that is no screen: causes are whole sentences. */
const MAX_COLUMNS = 2_000;

/** A short loss is part of every reconnection, milliseconds. */
const LOST_MS = 5_000;

/** Deployments whose held deletions are shown. */
const MAX_HELD_TEXTS = 3;

/** Fits into 40 columns and 9 rows. */
const help = [
  "j k g G  select; also arrows and pages",
  "enter    why; then r again, esc back",
  "/        filter: words of a row",
  "esc      no filter",
  "q        end, as Ctrl-C",
  "LIFE     create, join, in service,",
  "         drain, detach, delete, remove",
  "● now  ! attention  x fails  ─ to come",
  "Held     by the deletion budget",
];

const machinesText = (count: number): string => (count === 1 ? "1 machine" : `${count} machines`);

const connectionText = ({ hasSynced, lostForMs }: TopScreen): string | undefined => {
  if (lostForMs > LOST_MS) return `API server unreachable for ${ageText(Math.floor(lostForMs / 1000))}`;
  return hasSynced ? undefined : "Loading";
};

/** Where, how many machines, what has happened, what is held; a line each. */
function header(screen: TopScreen): readonly string[] {
  const { where, view, state, minute, now, size, paint } = screen;
  const isTall = size.rows >= TALL_ROWS;
  const line = (look: Look | undefined, text: string): string => {
    const cut = cutToWidth(plain(text), size.columns);
    return look === undefined ? cut : paint(look, cut);
  };
  const problem = connectionText(screen);
  const title = `millwright top  ${where}  ${now.toISOString().slice(11, 19)}`;
  const counts = view.states.map(([name, count]) => `${count} ${name}`).join(", ");
  const found = state.filter === "" ? "" : `, ${view.machines.length} with "${state.filter}"`;
  const isNarrow = size.columns < NARROW_COLUMNS;
  const changes =
    minute &&
    (isNarrow
      ? `Minute: +${minute.running} -${minute.deleted}. `
      : `In a minute: ${minute.running} Running, ${minute.deleted} deleted. `);
  const happened = `${changes ?? ""}${isNarrow ? `Deleting ${view.deleting}, held ${view.held}` : `Deletions: ${view.deleting} under way, ${view.held} held`}`;
  return [
    ...(isTall ? [line("title", title)] : []),
    ...(problem === undefined ? [] : [line("bad", problem)]),
    line(undefined, `${machinesText(view.total)}${found}${counts === "" ? "" : `: ${counts}`}`),
    line(undefined, happened),
    ...view.heldTexts.slice(0, isTall ? MAX_HELD_TEXTS : 1).map((text) => line("warn", `! ${text}`)),
  ];
}

const markOf = { ok: "●", busy: "●", warn: "!", bad: "x" } as const;

/** The steps of a life: those that are over, the current one, those to come. */
const bar = ({ step, tone }: MachineRow, steps: readonly string[]): string =>
  steps.map((_, index) => (index < step ? "━" : index === step ? markOf[tone] : "─")).join("");

/** Widths of the columns of machines; the cause gets the rest. */
function widthsFor({ view, steps, size, hasAllNamespaces }: TopScreen, shown: readonly MachineRow[]) {
  const longest = (texts: readonly string[]): number => Math.max(...texts.map(displayWidth), 7);
  const names = longest(shown.map((row) => nameOf(row, hasAllNamespaces)));
  const states = longest(view.states.map(([name]) => name));
  const fixed = 2 + 1 + steps.length + 1 + 1 + 5;
  const state = Math.min(states, size.columns < NARROW_COLUMNS ? 8 : 16);
  return { name: Math.max(6, Math.min(names, Math.floor(size.columns * 0.45), size.columns - fixed - state)), state };
}

const nameOf = ({ namespace, name }: MachineRow, hasAllNamespaces: boolean): string =>
  hasAllNamespaces ? `${namespace}/${name}` : name;

const ageOf = (since: string, now: Date): string => {
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1000);
  return Number.isNaN(seconds) ? "-" : ageText(Math.max(0, seconds));
};

/** The machines that are on the screen, below the names of their columns. */
function table(screen: TopScreen, page: number): readonly string[] {
  const { view, state, steps, now, size, hasAllNamespaces, paint } = screen;
  const shown = view.machines.slice(state.top, state.top + page);
  if (shown.length === 0) return ["", view.total === 0 ? "no machines" : "no machine matches; esc: no filter"];
  const widths = widthsFor(screen, shown);
  const titles = `  ${fitToWidth("MACHINE", widths.name)} ${fitToWidth("LIFE", steps.length)} ${fitToWidth("STATE", widths.state)} FOR   CAUSE`;
  return [
    paint("quiet", cutToWidth(titles, size.columns)),
    ...shown.map((machine, offset) => {
      const isSelected = state.top + offset === state.index;
      const name = `${isSelected ? "> " : "  "}${fitEndToWidth(plain(nameOf(machine, hasAllNamespaces)), widths.name)}`;
      const life = ` ${bar(machine, steps)} ${fitToWidth(plain(stateOf(machine, steps)), widths.state)}`;
      const rest = ` ${ageOf(machine.since, now).padEnd(5)} ${plain(machine.cause).replaceAll(/\s+/g, " ")}`;
      const left = size.columns - displayWidth(name) - displayWidth(life);
      // A screen that is narrower than the fixed columns shows the beginning.
      if (left < 0) return cutToWidth(`${name}${life}`, size.columns);
      return `${isSelected ? paint("selected", name) : name}${paint(machine.tone, life)}${cutToWidth(rest, left).trimEnd()}`;
    }),
  ];
}

/** Lines of an explanation that are on the screen. */
const explanationLines = ({ explanation, state, size, paint }: TopScreen, page: number): readonly string[] =>
  explanation.slice(state.scroll, state.scroll + page).map((text) => {
    const cut = cutToWidth(plain(text), size.columns);
    if (text.includes("[stuck]")) return paint("bad", cut);
    return text.includes("[waiting]") ? paint("warn", cut) : cut;
  });

function footer({ state, view, explanation, size, paint }: TopScreen, page: number): string {
  if (state.mode === "filter") return cutToWidth(`/${plain(state.filter)}_  enter: keep  esc: none`, size.columns);
  const texts = {
    table: `? help  / filter  enter why  q end  ${view.machines.length === 0 ? 0 : state.index + 1}/${view.machines.length}`,
    help: "any key: back",
    why: `esc back  r again  j k scroll  ${Math.min(explanation.length, state.scroll + page)}/${explanation.length}`,
  };
  return paint("quiet", cutToWidth(texts[state.mode], size.columns));
}

/** Machines, or lines of an explanation, that fit on the screen. */
export function pageOf(screen: TopScreen): number {
  const { state, size } = screen;
  const reserved = state.mode === "why" ? 1 : header(screen).length + 2;
  return Math.max(1, size.rows - reserved);
}

/** All machines as a text, for a pipe or a file. */
export function renderTopOnce(
  screen: Omit<TopScreen, "state" | "size" | "paint" | "explanation" | "hasSynced" | "lostForMs">,
  filter: string,
): string {
  const state: TopState = { mode: "table", filter, index: -1, top: 0, scroll: 0 };
  const size = { columns: MAX_COLUMNS, rows: Number.MAX_SAFE_INTEGER };
  const paint = (_: Look, text: string): string => text;
  const whole: TopScreen = { ...screen, state, size, paint, explanation: [], hasSynced: true, lostForMs: 0 };
  return [...header(whole), ...table(whole, size.rows), ""].map((line) => line.trimEnd()).join("\n");
}

/** The screen, from the top: each line fits into its width, and there are at most as many as it has. */
export function renderTop(screen: TopScreen): readonly string[] {
  const { state, size } = screen;
  const page = pageOf(screen);
  const body = (): readonly string[] => {
    switch (state.mode) {
      case "why":
        return explanationLines(screen, page);
      case "help":
        return help.map((text) => cutToWidth(text, size.columns));
      case "table":
      case "filter":
        return [...header(screen), ...table(screen, page)];
    }
  };
  const room = size.rows - 1;
  const lines = body().slice(0, room);
  const blank = Array.from({ length: Math.max(0, room - lines.length) }, () => "");
  return [...lines, ...blank, footer(screen, page)];
}
