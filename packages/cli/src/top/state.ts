/** What a user sees and has selected. */
export interface TopState {
  /** `filter`: the filter is being typed. */
  readonly mode: "table" | "filter" | "why" | "help";
  readonly filter: string;
  /** Id of the selected machine; absent: the first one, whichever that is. */
  readonly selected?: string;
  /** Where it is in the list. */
  readonly index: number;
  /** The first machine that is shown. */
  readonly top: number;
  /** The first line of the explanation that is shown. */
  readonly scroll: number;
}

/** What a key requires beyond another state. */
export type TopAction = "quit" | "explain";

/** What keys move in. */
export interface Extent {
  /** Ids of the machines, in their order. */
  readonly ids: readonly string[];
  /** Machines, or lines, that fit on the screen. */
  readonly page: number;
  /** Lines of the explanation. */
  readonly lines: number;
}

/** The state at the start. */
export const initialState = (filter = ""): TopState => ({ mode: "table", filter, index: 0, top: 0, scroll: 0 });

const clamp = (value: number, max: number): number => Math.max(0, Math.min(value, max));

/** Where a key moves to in a list. */
function moved(key: string, from: number, page: number, last: number): number | undefined {
  switch (key) {
    case "j":
    case "down":
      return clamp(from + 1, last);
    case "k":
    case "up":
      return clamp(from - 1, last);
    case " ":
    case "page-down":
      return clamp(from + page, last);
    case "page-up":
      return clamp(from - page, last);
    case "g":
    case "home":
      return 0;
    case "G":
    case "end":
      return last;
    default:
      return undefined;
  }
}

/** The state for a list that may have changed: the selected machine stays selected, or its place, and is on the screen. */
export function settle(state: TopState, { ids, page, lines }: Extent): TopState {
  const found = state.selected === undefined ? 0 : ids.indexOf(state.selected);
  const index = found >= 0 ? found : clamp(state.index, ids.length - 1);
  const top = clamp(clamp(state.top, index), ids.length - page);
  return {
    ...state,
    index,
    top: index >= top + page ? index - page + 1 : top,
    scroll: clamp(state.scroll, lines - page),
  };
}

type Change = { readonly state: TopState; readonly action?: TopAction };

function onTableKey(state: TopState, key: string, { ids, page }: Extent): Change {
  const index = moved(key, state.index, page, ids.length - 1);
  if (index !== undefined) {
    const selected = ids[index];
    return { state: { ...state, index, ...(selected === undefined ? {} : { selected }) } };
  }
  switch (key) {
    case "q":
      return { state, action: "quit" };
    case "?":
    case "h":
      return { state: { ...state, mode: "help" } };
    case "/":
      return { state: { ...state, mode: "filter" } };
    case "escape":
      return { state: { ...state, filter: "" } };
    case "enter": {
      const selected = ids[state.index];
      if (selected === undefined) return { state };
      return { state: { ...state, mode: "why", selected, scroll: 0 }, action: "explain" };
    }
    default:
      return { state };
  }
}

function onFilterKey(state: TopState, key: string): Change {
  if (key === "enter") return { state: { ...state, mode: "table" } };
  if (key === "escape") return { state: { ...state, mode: "table", filter: "" } };
  if (key === "ctrl-u") return { state: { ...state, filter: "" } };
  if (key === "backspace") return { state: { ...state, filter: Array.from(state.filter).slice(0, -1).join("") } };
  // Names of keys are longer than a character.
  return Array.from(key).length === 1 ? { state: { ...state, filter: state.filter + key } } : { state };
}

function onWhyKey(state: TopState, key: string, { page, lines }: Extent): Change {
  const scroll = moved(key, state.scroll, page, Math.max(0, lines - page));
  if (scroll !== undefined) return { state: { ...state, scroll } };
  if (key === "r") return { state, action: "explain" };
  return key === "escape" || key === "q" || key === "enter" ? { state: { ...state, mode: "table" } } : { state };
}

/** What a key does. */
export function onKey(state: TopState, key: string, extent: Extent): Change {
  if (key === "ctrl-c") return { state, action: "quit" };
  switch (state.mode) {
    case "help":
      return { state: { ...state, mode: "table" } };
    case "filter":
      return onFilterKey(state, key);
    case "why":
      return onWhyKey(state, key, extent);
    case "table":
      return onTableKey(state, key, extent);
  }
}
