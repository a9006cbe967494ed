import { describe, expect, it } from "vitest";
import { requestOfAuditLine } from "./audit-line.ts";
import { createRequestCounter, requestsBetween, totalOf } from "./request-counts.ts";

describe("counted requests", () => {
  it("are grouped by the name of the client, without its version", () => {
    const counter = createRequestCounter();
    counter.add({
      agent: "machine-controller/v0.0.0 (linux/amd64) kubernetes/$Format",
      verb: "patch",
      resource: "machines",
    });
    counter.add({ agent: "machine-controller/v0.1.0", verb: "patch", resource: "machines" });
    counter.add({ agent: "millwright", verb: "patch", resource: "machines" });
    expect(counter.counts()).toEqual([
      { agent: "machine-controller", verb: "patch", resource: "machines", count: 2 },
      { agent: "millwright", verb: "patch", resource: "machines", count: 1 },
    ]);
  });

  it("between two readings leave out what did not change", () => {
    const row = (resource: string, count: number) => ({ agent: "a", verb: "get", resource, count });
    const between = requestsBetween(
      [row("pods", 3), row("nodes", 1)],
      [row("pods", 3), row("nodes", 2), row("leases", 5)],
    );
    expect(between).toEqual([row("leases", 5), row("nodes", 1)]);
    expect(totalOf(between)).toBe(6);
  });

  it("are read from an audit log, with the subresource", () => {
    const event = {
      verb: "patch",
      userAgent: "millwright",
      objectRef: { resource: "machines", subresource: "status" },
    };
    expect(requestOfAuditLine(JSON.stringify(event))).toEqual({
      agent: "millwright",
      verb: "patch",
      resource: "machines/status",
    });
    expect(requestOfAuditLine("{}")).toEqual({ agent: "", verb: "", resource: "" });
  });
});
