import { isConfigError } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createSimulatedCloud } from "./simulated-cloud.ts";
import { aVm } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";

describe("snapshot", () => {
  it("goes on where the cloud stopped: states, tokens, user data and due moves", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a", { userData: Uint8Array.of(0, 255), tags: { k: "v" } }));
    await clock.advance(600);
    await cloud.createVm(aVm("b"));
    await cloud.deleteVm("b");
    const { cursor } = await cloud.changes({});
    const stored: unknown = JSON.parse(JSON.stringify(cloud.snapshot()));
    cloud.close();
    expect(clock.pending()).toBe(0);

    await clock.advance(700);
    const again = createSimulatedCloud({ clock, snapshot: stored, deleteDelayMs: 1000 });
    await expect(again.readUserData("a")).resolves.toEqual(Uint8Array.of(0, 255));
    const created = await again
      .createVm(aVm("a", { userData: Uint8Array.of(0, 255), tags: { k: "v" }, bootDelayMs: 2000 }))
      .catch((error: unknown) => error);
    expect(created).toMatchObject({ code: "AlreadyExists" });
    expect(again.vms().map((vm) => `${vm.name} ${vm.state}`)).toEqual(["a booting", "b terminating"]);
    await clock.advance(700);
    expect(again.vms().map((vm) => `${vm.name} ${vm.state}`)).toEqual(["a running"]);
    const { reset, vms } = await again.changes(cursor);
    expect(reset).toBe(false);
    expect(vms.map((vm) => vm.name)).toEqual(["b", "a"]);
    again.close();
  });

  it("makes up for moves that fell due while the cloud was down", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    const stored = cloud.snapshot();
    cloud.close();
    await clock.advance(3_600_000);
    const again = createSimulatedCloud({ clock, snapshot: stored });
    await clock.advance(2000);
    expect(again.vms().map((vm) => vm.state)).toEqual(["running"]);
    again.close();
  });

  it.each<[string, unknown]>([
    ["another version", { version: 2, epoch: "x", revision: 0, vms: [] }],
    ["no VMs", { version: 1, epoch: "x", revision: 0 }],
    ["a list", []],
    ["null", null],
  ])("is refused with a clear line when it is %s", (_what, snapshot) => {
    let thrown: unknown;
    try {
      createSimulatedCloud({ clock: createVirtualClock(), snapshot });
    } catch (error) {
      thrown = error;
    }
    expect(isConfigError(thrown)).toBe(true);
    expect(String(thrown)).toMatch(
      /stored state of the simulated cloud cannot be read: .*; delete the file to start again/,
    );
  });
});
