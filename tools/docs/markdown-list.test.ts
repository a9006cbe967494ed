import { describe, expect, it } from "vitest";
import { listItem } from "./markdown-list.ts";

describe("listItem", () => {
  it("folds long parts and indents what follows the first line", () => {
    const long = Array(40).fill("word").join(" ");
    const lines = listItem([long, "Why: it is long."], "  ").split("\n");
    expect(lines[0]).toMatch(/^ {2}- word/);
    expect(lines.slice(1).every((line) => line.startsWith("    "))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(150);
    expect(lines.at(-1)).toBe("    Why: it is long.");
  });

  it("begins no line with a word that would start a list", () => {
    const lines = listItem([`${"x".repeat(147)} - and more`]).split("\n");
    expect(lines).toEqual([`- ${"x".repeat(147)} -`, "  and more"]);
  });
});
