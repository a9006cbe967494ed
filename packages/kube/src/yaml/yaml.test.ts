import { describe, expect, it } from "vitest";
import { parseYaml, toYaml } from "./yaml.ts";

const problemOf = (text: string): string => {
  try {
    parseYaml(text);
    return "";
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  }
};

/** Nine aliases of the one before, on each of some lines. */
const aliases = `a: &a [x]\n${"bcdefgh"
  .split("")
  .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`)
  .join("\n")}\n`;

describe("parseYaml", () => {
  it.each<[string, readonly unknown[]]>([
    ["a: 1\n---\nb: 2\n", [{ a: 1 }, { b: 2 }]],
    ['{"a": [1, "2", null]}', [{ a: [1, "2", null] }]],
    [
      "a: yes\nb: 'yes'\nc: 0x10\nd: 1e3\ne: 2026-01-01\nf: 012\n",
      [{ a: true, b: "yes", c: 16, d: 1_000, e: "2026-01-01", f: 12 }],
    ],
    ["base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\n", [{ base: { a: 1, b: 2 }, more: { a: 1, b: 3 } }]],
    ["", []],
    ["# nothing\n", []],
  ])("reads %j", (text, documents) => expect(parseYaml(text)).toEqual(documents));

  it.each([
    ["a: 1\n---\nb: [\n", /\(3:\d+\)|\(4:\d+\)/],
    ["a: {b: 1, c: 2, b: 3}\n", /^duplicated mapping key \(1:17\)$/],
    ["a: *b\n", /b/],
    [aliases, /^its aliases stand for more than 1000000 values$/],
    ["a: &a [*a]\n", /^its aliases stand for more than 1000000 values$/],
    [`a: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`, /nesting|depth/i],
    [`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`, /nesting|depth/i],
  ])("rejects %j", (text, problem) => expect(problemOf(text)).toMatch(problem));

  it("finds the one key of thousands that occurs twice, unless the last one counts", () => {
    const text = Array.from({ length: 5_000 }, (_, index) => `k${index}: v\n`).join("");
    expect(problemOf(text)).toBe("");
    expect(problemOf(`${text}k7: again\n`)).toMatch(/^duplicated mapping key/);
    expect(parseYaml(`${text}k7: again\n`, { lastKeyCounts: true })).toMatchObject([{ k7: "again" }]);
  });

  it("reads what toYaml writes, with texts that look like other values", () => {
    const shared = { a: ["yes", "no", "12", "1.5", "null", "~", "", " x ", "a: b", "# c", "2026-01-01", "x\ny\n"] };
    const value = { one: shared, two: shared, long: "word ".repeat(100) };
    const text = toYaml(value);
    expect(parseYaml(text)).toEqual([value]);
    expect(toYaml([["a", "yes"], {}], { isInline: true })).toBe('[[a, "yes"], {}]');
    expect(toYaml("10s", { isInline: true })).toBe("10s");
    expect(text).not.toContain("&");
    expect(text).toContain("word ".repeat(100).trim());
  });
});
