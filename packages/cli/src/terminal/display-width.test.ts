import { describe, expect, it } from "vitest";
import { cutToWidth, displayWidth, fitToWidth } from "./display-width.ts";

it.each([
  ["plain", 5],
  ["日本", 4],
  ["e\u0301", 1],
  ["👩‍👩‍👧", 2],
  ["─●", 2],
])("takes %j for %d columns", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

describe("cutToWidth", () => {
  it("keeps what fits, and cuts by columns otherwise", () => {
    expect(cutToWidth("machine", 7)).toBe("machine");
    expect(cutToWidth("machines", 7)).toBe("machin…");
    expect(cutToWidth("日本語", 6)).toBe("日本語");
    expect(cutToWidth("日本語", 5)).toBe("日本…");
    expect(cutToWidth("日本語", 4)).toBe("日…");
    expect(cutToWidth("a", 0)).toBe("");
  });

  it("limits marks on top of each other, which take no columns", () => {
    expect(cutToWidth(`a${"\u0301".repeat(500)}`, 3).length).toBeLessThan(20);
  });
});

it("fills a text up to its width", () => {
  expect(fitToWidth("日", 4)).toBe("日  ");
  expect(displayWidth(fitToWidth("日本語", 4))).toBe(4);
});
