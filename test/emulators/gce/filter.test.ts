import { describe, expect, it } from "vitest";
import { readFilter } from "./filter.ts";

const fields: Readonly<Record<string, string>> = { name: "a", status: "DONE", "labels.x": "1" };
const fits = (text: string): boolean => readFilter(text)((field) => fields[field]);

describe("a filter of a list", () => {
  it.each([
    ["", true],
    ['name = "a"', true],
    ["name=a", true],
    ["name != a", false],
    ['labels.x="1"', true],
    ['other != "a"', true],
    ['(name = "b") OR (name = "a")', true],
    ['(name = "b") OR (name = "c")', false],
    ['(name = "a") (status = "RUNNING")', false],
    ["name = a AND status = DONE", true],
  ])("compares fields with texts: %s", (text, expected) => {
    expect(fits(text)).toBe(expected);
  });

  it("joins by OR before AND", () => {
    expect(fits("(name = a) OR (name = b) AND (status = RUNNING)")).toBe(false);
    expect(fits("(status = RUNNING) AND (name = b) OR (name = a)")).toBe(false);
    expect(fits("(status = DONE) AND (name = b) OR (name = a)")).toBe(true);
  });

  it.each(["name", "name = a OR", "(name = a", "name = a)", "name eq a", "name > a", "OR"])(
    "that is not supported is rejected: %s",
    (text) => {
      expect(() => readFilter(text)).toThrow("Invalid list filter expression");
    },
  );
});
