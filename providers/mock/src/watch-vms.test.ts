import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import type { VmChanges } from "./cloud.ts";
import { createSimulatedCloud } from "./simulated-cloud.ts";
import { aVm } from "./testing/mock-cloud.ts";
import { watchVms } from "./watch-vms.ts";

describe("watchVms", () => {
  it("gives everything, then each change once, and ends with its signal", async () => {
    const clock = createVirtualClock();
    const cloud = createSimulatedCloud({ clock, bootDelayMs: 2000 });
    await cloud.createVm(aVm("a"));
    const controller = new AbortController();
    const seen: string[] = [];
    const watched = (async () => {
      for await (const { reset, vms } of watchVms(cloud, { clock, signal: controller.signal })) {
        seen.push(`${reset ? "all" : "changed"}: ${vms.map((changed) => changed.state).join()}`);
      }
    })();
    // Longer than one long poll waits, so that empty answers occur too.
    await clock.advance(60_000);
    await cloud.powerVm("a", "kill");
    await clock.advance(1);
    controller.abort();
    await watched;
    expect(seen).toEqual(["all: pending", "changed: booting", "changed: running", "changed: terminated"]);
    cloud.close();
    expect(clock.pending()).toBe(0);
  });

  it("asks again with growing pauses when the cloud fails, and misses nothing", async () => {
    const clock = createVirtualClock();
    const cloud = createSimulatedCloud({ clock });
    const controller = new AbortController();
    const batches: VmChanges[] = [];
    const failures: number[] = [];
    await cloud.addFault({ operation: "changes", code: "Unavailable", times: 7 });
    const watched = (async () => {
      const options = { clock, signal: controller.signal, onError: () => failures.push(clock.monotonicMs()) };
      for await (const batch of watchVms(cloud, options)) batches.push(batch);
    })();
    await clock.advance(10_000);
    await cloud.createVm(aVm("a"));
    await clock.advance(10_000);
    controller.abort();
    await watched;
    expect(failures).toEqual([0, 250, 750, 1750, 3750, 7750, 12_750]);
    expect(batches[0]).toMatchObject({ reset: true, vms: [{ name: "a" }] });
    cloud.close();
  });
});
