import { describe, expect, it } from "vitest";
import { type Extent, initialState, onKey, settle, type TopState } from "./state.ts";

const extent: Extent = { ids: ["a", "b", "c", "d", "e"], page: 2, lines: 5 };

/** The state after keys, and the last action. */
function press(keys: readonly string[], from: TopState = initialState(), within: Extent = extent) {
  let state = settle(from, within);
  let last: string | undefined;
  for (const key of keys) {
    const { state: next, action } = onKey(state, key, within);
    state = settle(next, within);
    last = action;
  }
  return { state, action: last };
}

describe("onKey", () => {
  it("moves within the list, and scrolls to what is selected", () => {
    expect(press(["j", "down", "j"]).state).toMatchObject({ selected: "d", index: 3, top: 2 });
    expect(press(["G", "j"]).state).toMatchObject({ selected: "e", top: 3 });
    expect(press(["G", "k", "up", "g", "k"]).state).toMatchObject({ selected: "a", top: 0 });
    expect(press(["page-down", "page-down", "page-up"]).state).toMatchObject({ selected: "c" });
  });

  it("explains the selected machine on enter, scrolls the lines, reads again, and goes back", () => {
    expect(press(["j", "enter"])).toMatchObject({ state: { mode: "why", selected: "b" }, action: "explain" });
    expect(press(["enter", "j", "j", "j", "j", "j"]).state.scroll).toBe(3);
    expect(press(["enter", "j", "r"])).toMatchObject({ state: { scroll: 1 }, action: "explain" });
    expect(press(["j", "enter", "escape"]).state).toMatchObject({ mode: "table", selected: "b" });
    expect(press(["enter"], initialState(), { ...extent, ids: [] })).toMatchObject({ state: { mode: "table" } });
  });

  it("takes letters for the filter while that is typed", () => {
    expect(press(["/", "q", "j", "日", "backspace", "up"]).state).toMatchObject({ mode: "filter", filter: "qj" });
    expect(press(["/", "q", "enter"])).toMatchObject({ state: { mode: "table", filter: "q" }, action: undefined });
    expect(press(["/", "q", "escape"]).state).toMatchObject({ mode: "table", filter: "" });
    expect(press(["/", "q", "ctrl-u"]).state).toMatchObject({ mode: "filter", filter: "" });
    expect(press(["escape"], initialState("pool")).state.filter).toBe("");
  });

  it("shows the keys until the next key, which does nothing else", () => {
    expect(press(["?"]).state.mode).toBe("help");
    expect(press(["h", "q"])).toMatchObject({ state: { mode: "table" }, action: undefined });
  });

  it("ends by q in the table, and by Ctrl-C everywhere", () => {
    expect(press(["q"]).action).toBe("quit");
    for (const mode of ["?", "/", "enter"]) expect(press([mode, "ctrl-c"]).action).toBe("quit");
  });
});

describe("settle", () => {
  it("follows the first machine until a user selects one, and that one afterwards", () => {
    const moved = { ...extent, ids: ["new", ...extent.ids] };
    expect(settle(initialState(), moved)).toMatchObject({ index: 0 });
    expect(settle(press(["j"]).state, moved)).toMatchObject({ selected: "b", index: 2, top: 1 });
  });

  it("keeps the place of a machine that is gone", () => {
    const state = press(["j", "j"]).state;
    expect(settle(state, { ...extent, ids: ["a", "b", "d"] })).toMatchObject({ index: 2 });
    expect(settle(state, { ...extent, ids: ["a"] })).toMatchObject({ index: 0, top: 0 });
    expect(settle(state, { ...extent, ids: [] })).toMatchObject({ index: 0, top: 0 });
  });
});
