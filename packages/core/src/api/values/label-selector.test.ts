import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LabelSelector } from "./label-selector-schema.ts";
import {
  matchesLabels,
  parseLabelSelector,
  selectorMatches,
  selectsEverything,
  unmetRequirements,
} from "./label-selector.ts";

describe("label selectors", () => {
  it.each([
    ["In", ["a", "b"], { k: "a" }, true],
    ["In", ["a", "b"], { k: "c" }, false],
    ["In", ["a"], {}, false],
    ["NotIn", ["a"], { k: "b" }, true],
    ["NotIn", ["a"], { k: "a" }, false],
    ["NotIn", ["a"], {}, true],
    ["Exists", [], { k: "" }, true],
    ["Exists", [], { other: "x" }, false],
    ["DoesNotExist", [], {}, true],
    ["DoesNotExist", [], { k: "" }, false],
  ])("matches %s %j against %j: %s", (operator, values, labels, expected) => {
    expect(selectorMatches({ matchExpressions: [{ key: "k", operator, values }] }, labels)).toBe(expected);
  });

  it("needs every label and every expression", () => {
    const selector: LabelSelector = { matchLabels: { a: "1" }, matchExpressions: [{ key: "b", operator: "Exists" }] };
    expect(selectorMatches(selector, { a: "1", b: "", c: "3" })).toBe(true);
    expect(selectorMatches(selector, { a: "1" })).toBe(false);
    expect(selectorMatches(selector, { a: "2", b: "" })).toBe(false);
  });

  it("selects nothing without a selector and everything with an empty one", () => {
    expect(selectorMatches(undefined, { a: "1" })).toBe(false);
    expect(selectorMatches({}, undefined)).toBe(true);
    expect(selectorMatches({ matchLabels: {} }, { a: "1" })).toBe(true);
  });

  it.each([
    [{}, true],
    [{ matchLabels: {} }, true],
    [{ matchExpressions: [] }, true],
    [{ matchLabels: { a: "1" } }, false],
    [{ matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }, false],
  ])("finds out whether %j selects everything: %s", (selector, expected) => {
    expect(selectsEverything(matcherOf(selector))).toBe(expected);
  });

  it("does not take inherited properties for labels", () => {
    expect(selectorMatches({ matchExpressions: [{ key: "constructor", operator: "Exists" }] }, {})).toBe(false);
    expect(selectorMatches({ matchLabels: { constructor: "x" } }, { constructor: "x" })).toBe(true);
  });

  it("reports every problem with its path", () => {
    const parsed = parseLabelSelector(
      {
        matchLabels: { "-bad": "x", good: "two words" },
        matchExpressions: [
          { key: "k", operator: "in", values: ["a"] },
          { key: "Prefix/k", operator: "In" },
          { key: "k", operator: "Exists", values: ["a"] },
          { key: "k", operator: "NotIn", values: ["ok", "x".repeat(64)] },
        ],
      },
      "spec.selector",
    );
    expect(parsed.ok ? [] : parsed.problems.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "invalid spec.selector.matchLabels[-bad]",
      "invalid spec.selector.matchLabels.good",
      "notSupported spec.selector.matchExpressions[0].operator",
      "invalid spec.selector.matchExpressions[1].key",
      "required spec.selector.matchExpressions[1].values",
      "forbidden spec.selector.matchExpressions[2].values",
      "invalid spec.selector.matchExpressions[3].values[1]",
    ]);
    expect(selectorMatches({ matchExpressions: [{ key: "k", operator: "in", values: ["a"] }] }, { k: "a" })).toBe(
      false,
    );
  });

  it("names what labels lack", () => {
    const matcher = matcherOf({
      matchLabels: { a: "1" },
      matchExpressions: [
        { key: "b", operator: "In", values: ["x", "y"] },
        { key: "c", operator: "Exists" },
      ],
    });
    expect(unmetRequirements(matcher, { c: "" })).toEqual(["a=1", "b In (x, y)"]);
  });

  it("agrees with a plain reading of the rules for any labels", () => {
    const labels = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "1", "2"), { noNullPrototype: true });
    const expression = fc.record({
      key: fc.constantFrom("a", "b"),
      operator: fc.constantFrom("In", "NotIn"),
      values: fc.array(fc.constantFrom("", "1", "2"), { minLength: 1 }),
    });
    fc.assert(
      fc.property(labels, fc.array(expression), (given, matchExpressions) => {
        const expected = matchExpressions.every(({ key, operator, values }) => {
          const listed = key in given && values.includes(given[key] ?? "");
          return operator === "In" ? listed : !listed;
        });
        expect(matchesLabels(matcherOf({ matchExpressions }), given)).toBe(expected);
      }),
    );
  });
});

function matcherOf(selector: LabelSelector) {
  const parsed = parseLabelSelector(selector);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.matcher;
}
