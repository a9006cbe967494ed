import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../terminal/display-width.ts";
import type { FleetRow } from "./fleet.ts";
import { type DevScreen, hasRoomForHelp, renderDev, renderFleet } from "./render.ts";

const row = (name: string, extra: Partial<FleetRow> = {}): FleetRow => ({
  name,
  phase: "Running",
  node: name,
  vm: `mock:///local/i-${name}`,
  ageSeconds: 5,
  cause: "",
  isFailing: false,
  ...extra,
});

const lines = (machines: readonly FleetRow[], width = 80, rows = 20, deployments = ["example: 2 desired"]) =>
  renderFleet({ deployments, machines }, width, rows).map((line) => stripVTControlCharacters(line));
const render = (...args: Parameters<typeof lines>): string => lines(...args).join("\n");

const many = (count: number): readonly FleetRow[] => Array.from({ length: count }, (_, index) => row(`m${index}`));

describe("renderFleet", () => {
  it("lines columns up and shows a dash for what is not there yet", () => {
    expect(render([row("long-name"), row("b", { phase: "Creating", node: "", vm: "" })])).toMatchInlineSnapshot(`
      "  MachineDeployment example: 2 desired

        MACHINE    PHASE     VM                         AGE
        long-name  Running   mock:///local/i-long-name  5s
        b          Creating  -                          5s"
    `);
  });

  it("has a column of nodes only where one has another name than its machine", () => {
    expect(render([row("a"), row("b", { node: "worker" })])).toMatch(/MACHINE +PHASE +NODE +VM +AGE/);
    expect(render([row("a"), row("b", { node: "" })])).not.toContain("NODE");
  });

  it("leaves out columns that do not fit, then the beginnings of names", () => {
    const machines = [row("example-5b77d-fh69q", { node: "worker" })];
    expect(lines(machines, 75, 20)[2]).toMatch(/MACHINE +PHASE +VM +AGE/);
    expect(lines(machines, 40, 20).slice(2)).toEqual([
      "  MACHINE              PHASE    AGE",
      "  example-5b77d-fh69q  Running  5s",
    ]);
    expect(lines(machines, 30, 20)[3]).toBe("  …e-5b77d-fh69q  Running  5s");
    expect(lines(machines, 40, 20, ["example: 3 desired, 3 ready"])[0]).toBe("  example: 3 desired, 3 ready");
  });

  it("shows failing machines first, so that they are not hidden", () => {
    const text = lines([...many(30), row("z", { phase: "Failed", cause: "no quota", isFailing: true })], 80, 12);
    expect(text[3]).toMatch(/^ {2}z +Failed/);
    expect(text.at(-1)).toBe("  ! z: no quota");
  });

  it.each([
    [5, "5s"],
    [119, "119s"],
    [120, "2m"],
    [185, "3m5s"],
    [600, "10m"],
    [10_799, "179m"],
    [3 * 3_600, "3h"],
    [4 * 3_600 + 120, "4h2m"],
    [47 * 3_600, "47h"],
    [50 * 3_600, "2d2h"],
    [9 * 86_400, "9d"],
  ])("shows an age of %d s as kubectl does: %s", (seconds, expected) => {
    expect(render([row("a", { ageSeconds: seconds })])).toMatch(new RegExp(` ${expected}$`, "m"));
  });

  it("gives a long cause a second line where there is room", () => {
    const machines = [row("a", { phase: "Failed", cause: `one ${"word ".repeat(12)}end`, isFailing: true })];
    expect(lines(machines, 60, 20).slice(-2)).toEqual([
      "  ! a: one word word word word word word word word word word",
      "    word word end",
    ]);
    expect(lines(machines, 60, 14).at(-1)).toMatch(/^ {2}! a: one word.*…$/);
  });

  it("shows that there are no machines", () => {
    expect(render([])).toContain("no machines");
  });

  it("shows no more rows than fit, and how many are hidden", () => {
    const text = lines(many(50), 80, 14);
    expect([text.length, text.at(-1)]).toEqual([14, "  … and 40 more"]);
    const deployments = Array.from({ length: 20 }, (_, index) => `pool-${index}: 1 desired`);
    expect(lines(many(2), 80, 14, deployments).slice(3, 8)).toEqual([
      "  … and 17 more",
      "",
      expect.stringContaining("MACHINE"),
      expect.stringContaining("m0"),
      expect.stringContaining("m1"),
    ]);
  });

  it("shows why machines are not Running, failed ones first, and nothing about Running ones", () => {
    const text = lines([
      row("a", { phase: "Pending", cause: "waits for its node" }),
      row("b", { cause: "joined" }),
      row("c", { phase: "CrashLoopBackOff", cause: "no quota", isFailing: true }),
    ]);
    expect(text.slice(-2)).toEqual(["  ! c: no quota", "  · a: waits for its node"]);
  });

  it("shows machines with the same cause in one line", () => {
    const failed = { phase: "Failed", cause: "no quota", isFailing: true };
    expect(lines([row("a", failed), row("b", failed), row("c", failed)]).at(-1)).toBe("  ! a and 2 more: no quota");
  });
});

const header = ["Millwright runs here", "Dashboard: http://127.0.0.1:1/", "kubeconfig: /tmp/a", ""];
const help = Array.from({ length: 18 }, (_, index) => `command ${index} ${"x".repeat(60)}`);
const screenOf = (extra: Partial<DevScreen> = {}): DevScreen => ({
  fleet: { deployments: ["example: 2 desired"], machines: many(3) },
  header,
  help,
  isHelpShown: false,
  hasKeys: true,
  size: { columns: 80, rows: 24 },
  ...extra,
});
const screen = (extra: Partial<DevScreen> = {}): readonly string[] =>
  renderDev(screenOf(extra)).map((line) => stripVTControlCharacters(line));

describe("renderDev", () => {
  it("has where everything is on top, and the keys at the bottom", () => {
    const shown = screen();
    expect([...shown.slice(0, 5), ...shown.slice(-2)]).toEqual([
      ...header,
      "  MachineDeployment example: 2 desired",
      "",
      "? commands  Ctrl-C stops everything",
    ]);
    expect(screen({ hasKeys: false }).at(-1)).toBe("Ctrl-C stops everything");
  });

  it("shows commands beside the table where they fit, else in its place", () => {
    const [low, high] = [
      { columns: 80, rows: 24 },
      { columns: 120, rows: 40 },
    ];
    expect([hasRoomForHelp(screenOf({ size: low })), hasRoomForHelp(screenOf({ size: high }))]).toEqual([false, true]);
    const both = screen({ isHelpShown: true, size: high }).join("\n");
    expect([both.includes("command 17"), both.includes("MACHINE")]).toEqual([true, true]);
    const one = screen({ isHelpShown: true, size: low }).join("\n");
    expect([one.includes("command 17"), one.includes("MACHINE")]).toEqual([true, false]);
  });

  const hostile = `\u001B[2J\u202Egnp.exe 日本 ${"e\u0301".repeat(300)} ${"A".repeat(100_000)}`;
  it.each([
    { columns: 1, rows: 1 },
    { columns: 12, rows: 3 },
    { columns: 40, rows: 12 },
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
  ])("fits into $columns x $rows, also with hostile texts", (size) => {
    const machines = [
      ...many(70),
      row(`日本${"x".repeat(300)}`, { phase: hostile, vm: hostile, node: hostile, cause: hostile, isFailing: true }),
    ];
    const fleet = { deployments: [hostile, "b", "c"], machines };
    for (const isHelpShown of [true, false]) {
      const shown = screen({ fleet, size, isHelpShown });
      expect(shown).toHaveLength(size.rows);
      for (const line of shown) {
        expect(displayWidth(line)).toBeLessThanOrEqual(size.columns);
        expect(line).not.toMatch(/[\p{Cc}\u202E]/u);
      }
    }
  });
});
