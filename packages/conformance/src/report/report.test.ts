import { describe, expect, it } from "vitest";
import { contractRules, type RuleId } from "../rules/registry.ts";
import type { CheckResult, CheckStatus } from "./check-result.ts";
import { reportJunit } from "./junit.ts";
import { reachedLevel } from "./level.ts";
import { type ConformanceReport, isPassed, reportJson } from "./report.ts";
import { reportTable } from "./table.ts";

/** Results of all rules: passed, but for those that are named. */
const resultsWith = (other: Readonly<Partial<Record<RuleId, CheckStatus>>> = {}): readonly CheckResult[] =>
  contractRules.map((rule) => {
    const status = other[rule.id] ?? "passed";
    const reason =
      status === "passed" ? "" : `Because of <a> & "b", and ${"a long reason ".repeat(10)}${"x".repeat(100)}`;
    return { rule, status, reason, durationMs: 12 };
  });

const reportWith = (results: readonly CheckResult[], more: Partial<ConformanceReport> = {}): ConformanceReport => ({
  suiteVersion: "1.2.3",
  driver: { name: "toy", contractVersion: 1, version: "4.5.6", digest: `sha256:${"0".repeat(64)}` },
  profile: "offline",
  runId: "mwc-1-2",
  startedAt: new Date("2026-01-02T03:04:05Z"),
  durationMs: 1_500,
  results,
  isComplete: true,
  leftovers: [],
  ...more,
});

describe("the level of a run", () => {
  it.each<[string, string, Readonly<Partial<Record<RuleId, CheckStatus>>>]>([
    ["gold", "all rules hold", {}],
    ["gold", "a rule does not apply", { "list.pages": "notApplicable" }],
    ["silver", "a rule of load fails", { "load.no-leaks": "failed" }],
    ["bronze", "an optional rule could not be checked", { "create.quota": "skipped" }],
    ["none", "a mandatory rule fails", { "create.lost-response": "failed" }],
    ["none", "a mandatory rule could not be checked", { "secrets.rotation": "skipped", "create.quota": "failed" }],
  ])("is %s if %s", (level, _, other) => {
    const reached = reachedLevel(resultsWith(other));
    expect(reached.level).toBe(level);
    expect(reached.missing.map(({ rule }) => rule.id)).toEqual(
      Object.keys(other).filter((id) => level !== "gold" && !(level === "none" && id === "create.quota")),
    );
  });
});

describe("the report", () => {
  const bad = reportWith(resultsWith({ "create.quota": "failed", "list.pages": "skipped" }), { leftovers: ["vm-1"] });

  it("passes without failures and leftovers only", () => {
    expect(isPassed(reportWith(resultsWith()))).toBe(true);
    expect(isPassed(reportWith(resultsWith({ "list.pages": "skipped" })))).toBe(true);
    expect(isPassed(reportWith(resultsWith({ "list.pages": "failed" })))).toBe(false);
    expect(isPassed(reportWith(resultsWith(), { leftovers: ["vm-1"] }))).toBe(false);
    expect(isPassed(reportWith(resultsWith(), { stopped: "The run was stopped." }))).toBe(false);
  });

  it("fits into 80 columns, and names the level and what is missing", () => {
    const table = reportTable(bad);
    expect(Math.max(...table.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toContain("FAILED  create.quota (optional)\n");
    expect(table).toContain("Level: none. For bronze: list.pages\n");
    expect(table).toContain("Left in the cloud: vm-1\nThe driver does not conform.\n");
    expect(reportTable(reportWith(resultsWith(), { isComplete: false }))).toContain("Level: not determined");
  });

  it("is JSON with ids, driver, digest and level", () => {
    expect(JSON.parse(JSON.stringify(reportJson(bad)))).toMatchObject({
      suiteVersion: "1.2.3",
      driver: { name: "toy", version: "4.5.6", digest: expect.stringMatching(/^sha256:/) },
      passed: false,
      level: "none",
      missing: ["list.pages"],
      leftovers: ["vm-1"],
      checks: expect.arrayContaining([
        {
          id: "create.quota",
          title: "reports exhausted quota",
          mandatory: false,
          level: "silver",
          status: "failed",
          reason: expect.any(String),
          durationMs: 12,
        },
      ]),
    });
  });

  it("is JUnit with escaped reasons", () => {
    const xml = reportJunit(bad);
    expect(xml).toContain(`tests="${contractRules.length + 1}" failures="2" skipped="1" time="1.500"`);
    expect(xml).toContain('<failure message="Because of &lt;a&gt; &amp; &quot;b&quot;');
    expect(xml).toContain('<testcase classname="create" name="create.vm-is-found" time="0.012"/>');
    expect(xml.match(/<testcase /g)).toHaveLength(contractRules.length + 1);
    expect(xml).toContain(`<property name="digest" value="sha256:${"0".repeat(64)}"/>`);
    expect(xml).toContain('name="leftovers">\n      <failure message="Left in the cloud: vm-1"/>');
    expect(reportJunit(reportWith(resultsWith()))).toContain(`tests="${contractRules.length}" failures="0"`);
  });
});
