import { describe, expect, it } from "vitest";
import { createTotals } from "./totals.ts";

function closingLines(output: string, status: number): readonly string[] {
  const totals = createTotals();
  for (const line of output.split("\n")) totals.read(line);
  return totals.closingLines(status);
}

describe("totals of the tests of all packages", () => {
  it("are sums of the closing lines of each package, and nothing else", () => {
    const output = [
      "> nx run @millwright/base:test  [local cache]",
      " Tests  2 passed (2)",
      "2 passed, 0 failed",
      "> nx run @millwright/core:test",
      "\u001b[2m30 passed, 0 failed, 4 skipped\u001b[22m",
      "it prints: 5 passed, 5 failed",
    ].join("\n");
    expect(closingLines(output, 0)).toEqual(["32 passed, 0 failed, 4 skipped"]);
  });

  it("name every failure before the sums, also of a package whose output is not the last", () => {
    const output = [
      "failed: packages/base/src/a.test.ts > one: expected 1 to be 2",
      "1 passed, 1 failed",
      "failed: packages/core/src/b.test.ts: Cannot find module",
      "0 passed, 1 failed",
      "7 passed, 0 failed",
    ].join("\n");
    expect(closingLines(output, 1)).toEqual([
      "failed: packages/base/src/a.test.ts > one: expected 1 to be 2",
      "failed: packages/core/src/b.test.ts: Cannot find module",
      "8 passed, 2 failed",
    ]);
  });

  it("have a failure when the run fails without one", () => {
    expect(closingLines("3 passed, 0 failed", 130)).toEqual([
      "failed: outside of any test: the run ended with status 130",
      "3 passed, 1 failed",
    ]);
  });
});
