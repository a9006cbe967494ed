import { lifecycleSteps, machineRow } from "@millwright/dashboard/rows";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../terminal/display-width.ts";
import { renderTop, type TopScreen } from "./render.ts";
import { initialState } from "./state.ts";
import { viewOf } from "./view.ts";

const now = new Date("2026-01-01T00:10:00Z");
const row = (name: string, phase: string, cause = "") =>
  machineRow(
    {
      metadata: { name, namespace: "default" },
      spec: {},
      status: {
        currentStatus: { phase, lastUpdateTime: "2026-01-01T00:05:00Z" },
        lastOperation: { description: cause, state: "Processing", type: "Create", lastUpdateTime: "" },
      },
    },
    false,
  );

const machines = [
  row("pool-5b77d-aaaaa", "Running", "joined in 4s"),
  row("pool-5b77d-bbbbb", "CrashLoopBackOff", "quota of 1 VMs is used up, which no attempt can change"),
  row("pool-5b77d-ccccc", "Pending", "waits for its node"),
];

const screenOf = (extra: Partial<TopScreen> = {}): TopScreen => ({
  where: "namespace default",
  hasAllNamespaces: false,
  view: viewOf(machines, [], { filter: "", steps: lifecycleSteps }),
  state: initialState(),
  steps: lifecycleSteps,
  minute: { running: 3, deleted: 1 },
  hasSynced: true,
  lostForMs: 0,
  explanation: [],
  now,
  size: { columns: 80, rows: 24 },
  paint: (_, text) => text,
  ...extra,
});
const text = (screen: TopScreen): string =>
  renderTop(screen)
    .filter((line) => line !== "")
    .join("\n");

const hostile = `\u001B[2J\u202Egnp.exe 日本 ${"e\u0301".repeat(300)} ${"A".repeat(1_000_000)}`;

describe("renderTop", () => {
  it("shows the fleet at 80x24", () => {
    expect(text(screenOf())).toMatchInlineSnapshot(`
      "millwright top  namespace default  00:10:00
      3 machines: 1 CrashLoopBackOff, 1 Pending, 1 Running
      In a minute: 3 Running, 1 deleted. Deletions: 0 under way, 0 held
        MACHINE          LIFE    STATE            FOR   CAUSE
      > pool-5b77d-bbbbb x────── CrashLoopBackOff 5m    quota of 1 VMs is used up, wh…
        pool-5b77d-ccccc ━●───── Pending          5m    waits for its node
        pool-5b77d-aaaaa ━━●──── Running          5m    joined in 4s
      ? help  / filter  enter why  q end  1/3"
    `);
  });

  it("shows what matters at 40x10", () => {
    expect(text(screenOf({ size: { columns: 40, rows: 10 } }))).toMatchInlineSnapshot(`
      "3 machines: 1 CrashLoopBackOff, 1 Pendi…
      Minute: +3 -1. Deleting 0, held 0
        MACHINE         LIFE    STATE    FOR …
      > …ol-5b77d-bbbbb x────── CrashLo… 5m  …
        …ol-5b77d-ccccc ━●───── Pending  5m  …
        …ol-5b77d-aaaaa ━━●──── Running  5m  …
      ? help  / filter  enter why  q end  1/3"
    `);
  });

  it("names the filter, and that nothing matches", () => {
    const view = viewOf(machines, [], { filter: "zzz", steps: lifecycleSteps });
    const shown = text(screenOf({ view, state: { ...initialState("zzz"), mode: "filter" } }));
    expect(shown).toContain('3 machines, 0 with "zzz"');
    expect(shown).toContain("no machine matches");
    expect(shown).toMatch(/\/zzz_.*$/);
  });

  it("shows that the API server is unreachable, or that machines are still being read", () => {
    expect(text(screenOf({ lostForMs: 65_000 }))).toContain("API server unreachable for 65s");
    expect(text(screenOf({ hasSynced: false }))).toContain("Loading");
  });

  it("shows what is held within the deletion budget", () => {
    const view = { ...screenOf().view, held: 2, heldTexts: ["pool: at most 10 of 15 machines may be lost"] };
    expect(text(screenOf({ view }))).toContain("2 held\n! pool: at most 10 of 15");
  });

  it("names namespaces where there are several", () => {
    expect(text(screenOf({ hasAllNamespaces: true }))).toContain("default/pool-5b77d-aaaaa");
  });

  it("has help for a small terminal, uncut", () => {
    const lines = renderTop(screenOf({ state: { ...initialState(), mode: "help" }, size: { columns: 40, rows: 10 } }));
    expect(lines.join("\n")).not.toContain("…");
    expect(lines).toHaveLength(10);
    expect(lines.at(-2)).toContain("deletion budget");
  });

  it("shows the lines of an explanation from where it is scrolled to", () => {
    const explanation = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const state = { ...initialState(), mode: "why" as const, scroll: 5 };
    const lines = renderTop(screenOf({ state, explanation, size: { columns: 80, rows: 11 } }));
    expect([lines[0], lines[9]]).toEqual(["line 5", "line 14"]);
    expect(lines[10]).toContain("15/30");
  });

  const sizes = [
    { columns: 1, rows: 1 },
    { columns: 12, rows: 3 },
    { columns: 40, rows: 10 },
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
  ];
  it.each(sizes)("fits into $columns x $rows in every mode, also with hostile texts", (size) => {
    const rows = [...machines, row(`日本${"x".repeat(300)}`, hostile, hostile), row("b", "Failed", hostile)];
    const view = {
      ...viewOf(rows, [], { filter: "", steps: lifecycleSteps }),
      heldTexts: [hostile, hostile, hostile, hostile],
    };
    for (const mode of ["table", "filter", "why", "help"] as const) {
      const state = { ...initialState(hostile), mode };
      const lines = renderTop(screenOf({ view, state, size, explanation: [hostile, "short"] }));
      expect(lines).toHaveLength(size.rows);
      for (const line of lines) {
        expect(displayWidth(line)).toBeLessThanOrEqual(size.columns);
        expect(line).not.toMatch(/[\p{Cc}\u202E]/u);
      }
    }
  });

  it("reads only the machines that are on the screen", () => {
    let reads = 0;
    const counted = Array.from({ length: 5_000 }, (_, index) => {
      const { cause, ...rest } = row(`m${index}`, "Running", "joined");
      return Object.defineProperty({ ...rest, cause }, "cause", {
        get: () => {
          reads += 1;
          return cause;
        },
      });
    });
    const view = { ...screenOf().view, machines: counted, total: counted.length };
    expect(renderTop(screenOf({ view }))).toHaveLength(24);
    expect(reads).toBeGreaterThan(10);
    expect(reads).toBeLessThan(24);
  });
});
