import { describe, expect, it } from "vitest";
import { parseFields, parseStat } from "./process-files.ts";

describe("files of /proc", () => {
  it("have user and system time of a thread whose name has parentheses and spaces", () => {
    const stat = "42 (a) (b c) S 7 42 42 0 -1 4194304 1 2 3 4 150 25 9 9 20 0 11 0 100 1 1";
    expect(parseStat(stat)).toEqual({ name: "a) (b c", parent: 7, seconds: 1.75 });
  });

  it("that are something else are an error", () => {
    expect(() => parseStat("nothing")).toThrow("not a stat file");
  });

  it("have fields with and without a unit", () => {
    expect(parseFields("Name:\tnode\nVmHWM:\t  2048 kB\nVmRSS:\t1024 kB\nrchar: 12345\n")).toEqual({
      VmHWM: 2048,
      VmRSS: 1024,
      rchar: 12345,
    });
  });
});
