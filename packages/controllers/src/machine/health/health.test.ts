import { finalizers, type Machine, machineResource } from "@millwright/core/machine-api";
import type { FakeApi } from "@millwright/kube/testing";
import { nodeResource } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, inPhase, named, refOf } from "../../testing/builders.ts";
import { aFleet, fleetOf, MINUTE, nodeOf } from "../../testing/machine-fleet.ts";

const HOUR = 60 * MINUTE;

describe("a node that stays unhealthy", () => {
  it("makes its machine Unknown at once, and Failed after the health timeout", async () => {
    const { clock, events, report, phase, text } = await aFleet(fleetOf(4));
    report("m00", "Unknown");
    await clock.advance(1_000);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(10 * MINUTE - 2_000);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(3_000);
    expect(phase("m00")).toBe("Failed");
    expect(text("m00")).toContain("health checks failing for 10m0s");
    expect(events).toEqual(["NodeUnhealthy", "HealthTimedOut"]);
  });

  it("is forgiven when it is healthy again, also after that", async () => {
    const { clock, report, phase } = await aFleet(fleetOf(4));
    report("m00", "False");
    await clock.advance(9 * MINUTE);
    report("m00", "True");
    await clock.advance(1_000);
    expect(phase("m00")).toBe("Running");
    report("m00", "False");
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Failed");
    report("m00", "True");
    await clock.advance(MINUTE);
    expect(phase("m00")).toBe("Running");
  });

  it("has its machine deleted when it is deleted by a user, once", async () => {
    const { api, clock, events, machine } = await aFleet(fleetOf(4));
    const held = { ...refOf("m00") };
    api.change(machineResource, held, { metadata: { finalizers: [finalizers.machine, "test/hold"] } });
    await clock.advance(100);
    api.calls.length = 0;
    api.change(nodeResource, nodeOf("m00"), { metadata: { deletionTimestamp: "2026-01-01T00:00:01Z" } });
    await clock.advance(5_000);
    const deletions = api.writes().filter(({ verb, resource }) => verb === "delete" && resource.startsWith("machines"));
    expect(deletions).toHaveLength(1);
    expect(events[0]).toBe("NodeDeleted");
    expect(machine("m00")?.metadata.deletionTimestamp).toBeDefined();
  });
});

describe("a flapping node", () => {
  const statusWrites = (api: FakeApi): number =>
    api.writes().filter(({ resource, subresource }) => resource.startsWith("machines") && subresource === "status")
      .length;

  it("every 30 s for an hour costs a few writes, and is never replaced for it", async () => {
    const { api, clock, report, phase } = await aFleet(fleetOf(12));
    api.calls.length = 0;
    for (let turn = 0; turn < 60; turn++) {
      report("m00", "False");
      await clock.advance(30_000);
      report("m00", "True");
      await clock.advance(30_000);
      expect(phase("m00")).not.toBe("Failed");
    }
    expect(statusWrites(api)).toBeLessThanOrEqual(8);
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Running");
  });

  it("costs at most 24 writes an hour, whatever the rhythm, and ends as the node ends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1_000, max: 6 * MINUTE }), { minLength: 20, maxLength: 120 }),
        async (rhythm) => {
          const fleet = await aFleet(fleetOf(12));
          fleet.api.calls.length = 0;
          let isUp = true;
          let passed = 0;
          for (const ms of rhythm) {
            if (passed + ms > HOUR) break;
            isUp = !isUp;
            fleet.report("m00", isUp ? "True" : "False");
            await fleet.clock.advance(ms);
            passed += ms;
          }
          expect(statusWrites(fleet.api)).toBeLessThanOrEqual(24);
          await fleet.clock.advance(22 * MINUTE);
          expect(fleet.phase("m00")).toBe(isUp ? "Running" : "Failed");
          const writes = statusWrites(fleet.api);
          await fleet.clock.advance(HOUR);
          expect(statusWrites(fleet.api)).toBe(writes);
          await fleet.end();
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);
});

// The times in the objects may come from another clock, or from before a jump of a clock.
describe("a restart", () => {
  it("restarts the health timeout: the process observes the machine itself before it is replaced", async () => {
    const { clock, report, phase, start, end } = await aFleet(fleetOf(12));
    report("m00", "False");
    await clock.advance(MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await end();
    await clock.advance(60 * MINUTE);
    await start();
    await clock.advance(9 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(2 * MINUTE);
    expect(phase("m00")).toBe("Failed");
  });

  it("restarts the creation timeout", async () => {
    const { api, clock, start, end } = await aFleet(fleetOf(1));
    const creationTimestamp = new Date(clock.now().getTime() - 600 * MINUTE).toISOString();
    const late = aMachine(named("late"), inPhase("Pending"), {
      metadata: { creationTimestamp, labels: { node: "node-of-late" } },
      spec: { providerID: "vm-late", creationTimeout: "10m" },
    });
    api.seed(machineResource, late);
    await clock.advance(8 * MINUTE);
    await end();
    await start();
    const phase = (): string | undefined =>
      api.peek<Machine>(machineResource, refOf("late"))?.status?.currentStatus?.phase;
    await clock.advance(9 * MINUTE);
    expect(phase()).toBe("Pending");
    await clock.advance(2 * MINUTE);
    expect(phase()).toBe("Failed");
  });
});

describe("machines that do not join in time", () => {
  it("are replaced one after another, as the remediation budget allows", async () => {
    const { api, clock, events, text, phase } = await aFleet(fleetOf(1));
    const names = ["n0", "n1", "n2"];
    for (const name of names) {
      api.seed(
        machineResource,
        aMachine(named(name), inPhase("Pending"), {
          metadata: { labels: { node: `node-of-${name}` }, creationTimestamp: clock.now().toISOString() },
          spec: { providerID: `vm-${name}` },
        }),
      );
    }
    const failed = (): readonly string[] => names.filter((name) => phase(name) === "Failed");
    await clock.advance(21 * MINUTE);
    expect(failed()).toHaveLength(1);
    const held = names.filter((name) => !failed().includes(name));
    for (const name of held) {
      const message = `Machine ${name} has not joined the cluster in 20m0s. Waiting for the remediation of other machines of deployment pool`;
      expect([phase(name), text(name)]).toEqual(["Pending", message]);
    }
    expect(events.filter((reason) => reason === "JoinTimedOut")).toHaveLength(1);
    await clock.advance(60 * MINUTE);
    expect(failed()).toHaveLength(1);
    const [first = ""] = failed();
    api.change(machineResource, refOf(first), { metadata: { finalizers: [] } });
    api.remove(machineResource, refOf(first));
    await clock.advance(100);
    expect(failed()).toHaveLength(1);
  });
});
