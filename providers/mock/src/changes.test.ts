import { describe, expect, it } from "vitest";
import { aVm } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";

describe("changes", () => {
  it("begin with everything and go on with what changed", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    await cloud.createVm(aVm("b"));
    const first = await cloud.changes({});
    expect(first).toMatchObject({ reset: true, vms: [{ name: "a" }, { name: "b" }] });
    await clock.advance(500);
    await cloud.deleteVm("a");
    const next = await cloud.changes(first.cursor);
    expect(next.reset).toBe(false);
    expect(next.vms.map((vm) => `${vm.name} ${vm.state}`)).toEqual(["b booting", "a terminating"]);
    await expect(cloud.changes(next.cursor)).resolves.toEqual({ cursor: next.cursor, reset: false, vms: [] });
  });

  it("wait for the next one, and no longer than asked", async () => {
    const { clock, cloud } = aStillCloud();
    const { cursor } = await cloud.changes({});
    const waiting = cloud.changes(cursor, { waitMs: 5000 });
    await clock.advance(10);
    await cloud.createVm(aVm("a"));
    await expect(waiting).resolves.toMatchObject({ vms: [{ name: "a", state: "pending" }] });
    await clock.advance(10_000);
    const later = await cloud.changes({});
    const idle = cloud.changes(later.cursor, { waitMs: 5000 });
    await clock.advance(5000);
    await expect(idle).resolves.toMatchObject({ vms: [], reset: false });
    expect(clock.pending()).toBe(0);
  });

  it("end when the caller goes and when the cloud closes", async () => {
    const { clock, cloud } = aStillCloud();
    const { cursor } = await cloud.changes({});
    const controller = new AbortController();
    const left = cloud.changes(cursor, { waitMs: 5000, signal: controller.signal });
    const closed = cloud.changes(cursor, { waitMs: 5000 });
    await clock.advance(1);
    controller.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    cloud.close();
    await expect(closed).resolves.toMatchObject({ vms: [] });
    expect(clock.pending()).toBe(0);
  });

  it("start again for a cursor that is too old, of another store, or ahead", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    const { cursor } = await cloud.changes({});
    await cloud.powerVm("a", "kill");
    await clock.advance(60_000);
    for (const old of [cursor, { ...cursor, epoch: "other" }, { ...cursor, revision: 1000 }]) {
      await expect(cloud.changes(old)).resolves.toMatchObject({ reset: true, vms: [] });
    }
  });
});
