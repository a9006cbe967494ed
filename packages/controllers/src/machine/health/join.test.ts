import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { lastly, testNow, withVm } from "../../testing/snapshots.ts";
import { creating, decide, healthy, nodeWith } from "../../testing/node-health.ts";

// MCM sends an annotation with the status, which the API server drops.
describe("the join duration", () => {
  const statusOf = (machine: Machine, now = testNow) => decide({ machine, node: nodeWith(healthy) }, now).status;

  it("is in the status that makes the machine Running, without a write of its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const { actions, status } = decide({ machine, node: nodeWith(healthy) });
    expect([actions, status?.joinDuration]).toEqual([[], "10m0s"]);
  });

  it("is kept when the machine becomes unhealthy and recovers", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "unhealthy"), {
      status: { joinDuration: "1m0s" },
    });
    expect(statusOf(machine)).toMatchObject({ currentStatus: { phase: "Running" }, joinDuration: "1m0s" });
  });

  it("is absent for a machine that joined under an earlier version", () => {
    const machine = aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "unhealthy"));
    expect(statusOf(machine)).not.toHaveProperty("joinDuration");
  });

  it("is never negative, whatever the clocks", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    expect(statusOf(machine, new Date("2025-12-31T23:59:00Z"))?.joinDuration).toBe("0s");
  });
});
