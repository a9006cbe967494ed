import { describe, expect, it } from "vitest";
import { parseDocuments } from "./parse-documents.ts";

const problemsOf = (text: string): readonly (string | undefined)[] =>
  parseDocuments(text).map((document) => (document.ok ? undefined : document.problem));

const aliases = `a: &a [x]\n${"bcdefgh"
  .split("")
  .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`)
  .join("\n")}\n`;

describe("parseDocuments", () => {
  it("reads YAML, JSON, and YAML that begins like JSON", () => {
    expect(parseDocuments("a: 1\n---\nb: 2\n")).toEqual([
      { ok: true, value: { a: 1 } },
      { ok: true, value: { b: 2 } },
    ]);
    expect(parseDocuments(' {"a": 1}\n')).toEqual([{ ok: true, value: { a: 1 } }]);
    expect(parseDocuments("{a: 1}\n")).toEqual([{ ok: true, value: { a: 1 } }]);
    expect(parseDocuments("")).toEqual([]);
  });

  it("reports the problem of each document", () => {
    expect(problemsOf("a: 1\n---\nb: [\n")).toEqual([undefined, expect.stringContaining("Flow sequence")]);
    expect(problemsOf("a: {b: 1, c: 2, b: 3}\n")).toEqual(['the key "b" occurs twice in one mapping']);
    expect(problemsOf(aliases)).toEqual([expect.stringContaining("alias")]);
  });

  it.each([
    ["JSON", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`],
    ["YAML", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`],
  ])("refuses %s that nothing could walk through", (_, text) => {
    expect(problemsOf(text)).toEqual([expect.stringMatching(/nested deeper|call stack/)]);
  });

  it("finds the one key of thousands that occurs twice", () => {
    const text = Array.from({ length: 5_000 }, (_, index) => `k${index}: v\n`).join("");
    expect(problemsOf(text)).toEqual([undefined]);
    expect(problemsOf(`${text}k7: again\n`)).toEqual(['the key "k7" occurs twice in one mapping']);
  });
});
