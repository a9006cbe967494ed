import { describe, expect, it } from "vitest";
import { compare, resultLike, shown, tableLines } from "./compare.ts";
import { reportOf, sideBySide } from "./print-result.ts";
import { withResult } from "./results-files.ts";
import { aResult } from "./testing/a-result.ts";

describe("a comparison of results", () => {
  it("has values and ratios, without figures that neither result has", () => {
    const rows = compare(
      aResult({ requestCount: 50, eventLoop: undefined }),
      aResult({ requestCount: 200, eventLoop: undefined }),
    );
    expect(rows).toContainEqual(["requests", "50", "200", "×0.25"]);
    expect(rows).toContainEqual(["requests per machine", "5", "20", "×0.25"]);
    expect(rows.map(([name]) => name)).not.toContain("event loop max, ms");
  });

  it("has no ratio without a result to compare with", () => {
    expect(compare(aResult({ requestCount: 50 }), undefined)).toContainEqual(["requests", "50", "", ""]);
    expect(compare(aResult({ requestCount: 50 }), aResult({ requestCount: 0 }))).toContainEqual([
      "requests",
      "50",
      "0",
      "",
    ]);
  });

  it("is between equal measurements only", () => {
    const results = [
      aResult({ machines: 20 }),
      aResult({ subject: "go-mcm" }),
      aResult({ server: "devcluster" }),
      aResult({ minutes: 5 }),
    ];
    expect(resultLike(aResult({}), results)).toBeUndefined();
    const other = aResult({ server: "kube-apiserver v9", date: "2000-01-01T00:00:00Z" });
    expect(resultLike(aResult({}), [...results, other])).toBe(other);
  });

  it("is printed with the kinds of requests and the threads", () => {
    const text = reportOf(aResult({}), [aResult({ requestCount: 400, date: "2026-01-02T03:04:05Z" })]);
    expect(text).toContain("create, 10 machines: millwright (built) on kube-apiserver v1.35.4");
    expect(text).toMatch(/requests +100 +400 +×0\.25/);
    expect(text).toContain("committed 2026-01-02");
    expect(text).toContain("70 patch machines, 30 create events");
    expect(text).toContain("CPU of millwright: 2 s: 1.5 MainThread, 0.5 V8Worker");
    expect(sideBySide(aResult({}), aResult({ subject: "go-mcm" }))).toContain("millwright  go-mcm  ratio");
  });
});

describe("committed results", () => {
  it("keep one result of each measurement, in their order", () => {
    const [first, second] = [aResult({ machines: 1 }), aResult({ machines: 2 })];
    const newer = aResult({ machines: 1, requestCount: 7 });
    expect(withResult([first, second], newer)).toEqual([newer, second]);
    expect(withResult([second], first)).toEqual([second, first]);
  });
});

describe("numbers", () => {
  it.each([
    [undefined, ""],
    [0, "0"],
    [0.01234, "0.0123"],
    [1.004, "1"],
    [12.345, "12.3"],
    [123.45, "123"],
    [12_345, "12,345"],
  ])("%s is shown as %j", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  it("are at the right of their columns", () => {
    expect(
      tableLines([
        ["", "a"],
        ["long", "100"],
      ]),
    ).toEqual(["        a", "long  100"]);
  });
});
