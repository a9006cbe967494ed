import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { FleetRow } from "./fleet.ts";
import { renderFleet } from "./render.ts";

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

const render = (machines: readonly FleetRow[], width = 80, rows = 20): string =>
  stripVTControlCharacters(renderFleet({ deployments: ["example: 2 desired"], machines }, width, rows));

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

  it("shows failing machines first, so that they are not hidden", () => {
    const machines = Array.from({ length: 30 }, (_, index) => row(`m${index}`));
    const text = render([...machines, row("z", { phase: "Failed", cause: "no quota", isFailing: true })], 80, 7);
    expect(text.split("\n")[3]).toMatch(/^ {2}z +Failed/);
    expect(text).toContain("! z: no quota");
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

  it("shows that there are no machines", () => {
    expect(render([])).toContain("no machines");
  });

  it("shows no more rows than fit, and how many are hidden", () => {
    const text = render(
      Array.from({ length: 50 }, (_, index) => row(`m${index}`)),
      80,
      10,
    );
    expect(text.split("\n")).toHaveLength(14);
    expect(text).toContain("… and 40 more");
  });

  it("shows why machines are not Running, failed ones first, and nothing about Running ones", () => {
    const text = render([
      row("a", { phase: "Pending", cause: "waits for its node" }),
      row("b", { cause: "joined" }),
      row("c", { phase: "CrashLoopBackOff", cause: "no quota", isFailing: true }),
    ]);
    expect(text.split("\n").slice(-2)).toEqual(["  ! c: no quota", "  · a: waits for its node"]);
  });

  it("keeps a problem on one line, however long or broken into lines it is", () => {
    const text = render(
      [row("a", { phase: "Failed", cause: `first\nsecond ${"x".repeat(500)}`, isFailing: true })],
      60,
    );
    expect(text.split("\n").at(-1)).toMatch(/^ {2}! a: first second x+…$/);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
