import { describe, expect, it } from "vitest";
import { performanceBlocks, performanceCharts } from "./performance-page.ts";
import { aResult } from "./testing/a-result.ts";

describe("the page about performance", () => {
  const results = [
    aResult({}),
    aResult({ subject: "go-mcm", build: "MCM v0", requestCount: 170, cpuSeconds: 1, processes: [] }),
    aResult({ scenario: "idle", minutes: 5, creation: undefined, cpuSeconds: 0.5 }),
    aResult({ scenario: "roll", server: "devcluster" }),
  ];
  const blocks = performanceBlocks(results);
  const block = (name: string): string => blocks.get(`performance-${name}`) ?? "";

  it("has the results of Millwright on kube-apiserver, and no others", () => {
    expect(block("summary")).toMatch(/\| create, 10 +\| 100 +\| 10 +\| 2 +\| 200 +\| 200 +\| 4 +\| 3 +\|/);
    // A cost of time has none per machine.
    expect(block("summary")).toMatch(/\| idle, 10, 5 min +\| 100 +\| +\| 0.5 +\| +\| 200 /);
    expect(block("summary")).not.toContain("roll");
    expect(block("requests")).toContain("70 patch `machines`, 30 create `events`");
    expect(block("cpu")).toContain("MainThread 1.5, V8Worker 0.5");
    expect(block("latencies")).toMatch(/\| create, 10 +\| 0.5 +\| 0.9 /);
  });

  it("compares with MCM where both were measured", () => {
    expect(block("mcm")).toMatch(/\| create, 10 +\| requests +\| 100 +\| 170 +\| 0.59 +\|/);
    expect(block("mcm")).not.toContain("idle");
    expect(performanceBlocks([aResult({})]).get("performance-mcm")).toBe("Not measured yet.");
  });

  it("names computer, builds and commits", () => {
    expect(block("conditions")).toContain(
      "2 cores (Test CPU), 8 GiB of memory, Linux 6.1, Node.js v24.0.0, kube-apiserver v1.35.4",
    );
    expect(block("conditions")).toContain("millwright: built; go-mcm: MCM v0. Commits: abc.");
  });

  it("has charts of both where both were measured", () => {
    const cpu = performanceCharts(results).get("docs/project/performance-cpu.svg") ?? "";
    expect(performanceCharts(results).get("docs/project/performance-requests.svg")).not.toContain("idle");
    expect(cpu.match(/>[\d.]+ s</g)).toEqual([">2 s<", ">1 s<", ">0.5 s<"]);
  });
});
