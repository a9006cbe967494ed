import { describe, expect, it } from "vitest";
import { labelText, labelValue } from "./label-text.ts";

describe("the value of a label", () => {
  it.each([
    ["a plain text", "aws:///eu-1/i-1", "aws:///eu-1/i-1"],
    ["nothing", "", ""],
    ["letters of any language", "größe 機", "größe 機"],
    ["a NUL, lines and a tabulator", "a\u0000b\nc\r\nd\te", "a\uFFFDb\uFFFDc\uFFFD\uFFFDd\uFFFDe"],
    ["line ends of Unicode", "a\u0085b\u2028c\u2029d", "a\uFFFDb\uFFFDc\uFFFDd"],
    ["half a character", "a\uD800b", "a\uFFFDb"],
    ["more than 512 characters", "x".repeat(1_048_576), "x".repeat(512)],
    ["a character that the end cuts through", `${"x".repeat(511)}😀`, `${"x".repeat(511)}\uFFFD`],
  ])("shows %s", (_, text, shown) => {
    expect(labelValue(text)).toBe(shown);
  });
});

it("keeps quotes and backslashes within the quotes of the format", () => {
  expect(labelText("color", String.raw`"} 9 \n \"`)).toBe(String.raw`color="\"} 9 \\n \\\""`);
});
