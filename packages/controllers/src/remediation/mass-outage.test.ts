import { type Machine, machineResource } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, type Change, inPhase, named, refOf } from "../testing/builders.ts";
import { aFleet, fleetOf, MINUTE } from "../testing/machine-fleet.ts";

describe("many machines that become Unknown at once", () => {
  it("are not remediated within the hour, then one after another", async () => {
    const { clock, events, logged, report, inPhases, text } = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) report(name, "Unknown");
    await clock.advance(30 * MINUTE);
    expect(inPhases("Failed")).toEqual([]);
    expect(text("m00")).toContain("Remediation paused: many machines became Unknown");
    expect(events.filter((reason) => reason === "RemediationPaused")).toHaveLength(3);
    expect(logged.filter((line) => line.startsWith("Remediation paused: many machines"))).toHaveLength(1);
    await clock.advance(31 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
  });

  it("are remediated as soon as enough have recovered", async () => {
    const { clock, logged, report, inPhases } = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) report(name, "Unknown");
    await clock.advance(15 * MINUTE);
    expect(inPhases("Failed")).toEqual([]);
    report("m02", "True");
    await clock.advance(1_000);
    expect(inPhases("Running")).toHaveLength(8);
    expect(inPhases("Failed")).toHaveLength(1);
    expect(logged).toContain("Remediation resumed: most machines that became Unknown recovered or were deleted");
  });

  it("pause the remediation of their zone only", async () => {
    const zone = (name: string): Change<Machine> => ({
      spec: { nodeTemplate: { metadata: { labels: { "topology.kubernetes.io/zone": name } } } },
      metadata: { labels: { name: `pool-${name}` } },
    });
    const { clock, report, phase, text } = await aFleet(fleetOf(40, (index) => zone(index < 8 ? "a" : "b")));
    for (const name of ["m00", "m01", "m02", "m10"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    expect(text("m00")).toContain("machines of zone a");
    expect(phase("m10")).toBe("Failed");
  });

  it("are detected after a restart, too", async () => {
    const fleet = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) fleet.report(name, "Unknown");
    await fleet.clock.advance(5 * MINUTE);
    await fleet.end();
    await fleet.start();
    await fleet.clock.advance(20 * MINUTE);
    expect(fleet.inPhases("Failed")).toEqual([]);
  });
});

describe("an unreachable API server", () => {
  it("pauses remediation, and restarts health timeouts when it is reachable again", async () => {
    const { api, clock, events, logged, report, phase, away } = await aFleet(fleetOf(12));
    report("m00", "Unknown");
    await clock.advance(MINUTE);
    away(60);
    await clock.advance(9 * MINUTE + 5_000);
    expect(phase("m00")).toBe("Unknown");
    expect(events).toContain("RemediationPaused");
    const reachable = "An API server is reachable again; node timeouts restart";
    for (let minutes = 0; minutes < 60 && !logged.includes(reachable); minutes++) await clock.advance(MINUTE);
    expect(logged).toContain(reachable);
    expect(events).toContain("HealthTimeoutReset");
    const resetAt = api.peek<Machine>(machineResource, refOf("m00"))?.status?.currentStatus?.lastUpdateTime ?? "";
    expect(Date.parse(resetAt)).toBeGreaterThan(clock.now().getTime() - 2 * MINUTE);
    await clock.advance(8 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(3 * MINUTE);
    expect(phase("m00")).toBe("Failed");
  });

  it("pauses the creation timeout of a machine that has not joined, reports it at once, and restarts the timeout afterwards", async () => {
    const { api, clock, phase, away } = await aFleet(fleetOf(1));
    const created = clock.now().toISOString();
    const waiting = aMachine(named("late"), inPhase("Pending"), {
      metadata: { creationTimestamp: created, labels: { node: "node-of-late" } },
      spec: { providerID: "vm-late", creationTimeout: "10m" },
    });
    api.seed(machineResource, waiting);
    await clock.advance(MINUTE);
    const text = (): string | undefined =>
      api.peek<Machine>(machineResource, refOf("late"))?.status?.lastOperation?.description;
    away(60);
    await clock.advance(MINUTE);
    expect(text()).toContain("Cannot determine");
    await clock.advance(10 * MINUTE);
    expect(phase("late")).toBe("Pending");
    for (let minutes = 0; minutes < 60 && text()?.includes("Cannot determine"); minutes++) await clock.advance(MINUTE);
    expect(text()).toBe("Created VM on cloud provider; waiting for its Node to join the cluster");
    await clock.advance(8 * MINUTE);
    expect(phase("late")).toBe("Pending");
    await clock.advance(3 * MINUTE);
    expect(phase("late")).toBe("Failed");
  });

  it("has no effect when it was unreachable for a moment only", async () => {
    const { clock, events, report, phase, away } = await aFleet(fleetOf(12));
    report("m00", "Unknown");
    await clock.advance(MINUTE);
    away(2);
    await clock.advance(9 * MINUTE + 1_000);
    expect(phase("m00")).toBe("Failed");
    expect(events).not.toContain("HealthTimeoutReset");
  });
});
