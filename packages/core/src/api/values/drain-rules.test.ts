import { describe, expect, it } from "vitest";
import { readDrainRules } from "./drain-rules.ts";

const read = (rules: unknown) => readDrainRules(typeof rules === "string" ? rules : JSON.stringify(rules), "rules");

const pathsOf = (rules: unknown): readonly string[] => {
  const result = read(rules);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe("readDrainRules", () => {
  it("fills in the defaults of a rule", () => {
    expect(read([{}])).toEqual({ ok: true, rules: [{ behavior: "Drain", order: 0 }] });
  });

  it("reads a whole rule", () => {
    const rule = {
      selector: { matchLabels: { app: "db" }, matchExpressions: [{ key: "tier", operator: "Exists" }] },
      namespaces: ["data"],
      behavior: "WaitCompleted",
      order: -5,
    };
    expect(read([rule])).toEqual({ ok: true, rules: [rule] });
  });

  it.each([
    ["text that is no JSON", "[{", /^rules: must be a JSON list of rules/],
    ["an object", {}, /^rules: must be a list/],
    ["an unknown behavior", [{ behavior: "Evict" }], /^rules\[0\]\.behavior: /],
    ["an order that is no whole number", [{}, { order: 1.5 }], /^rules\[1\]\.order: /],
    ["an unknown field, which is a typing error", [{ behavoir: "Skip" }], /^rules\[0\]: .*behavoir/],
    [
      "an unknown operator",
      [{ selector: { matchExpressions: [{ key: "a", operator: "Is" }] } }],
      /^rules\[0\]\.selector\.matchExpressions\[0\]/,
    ],
    ["too many rules", Array.from({ length: 101 }, () => ({})), /^rules: /],
  ])("refuses %s, with its place", (_, rules, expected) => {
    expect(pathsOf(rules)).toEqual([expect.stringMatching(expected)]);
  });
});
