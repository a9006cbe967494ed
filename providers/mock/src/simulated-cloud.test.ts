import { describe, expect, it } from "vitest";
import type { CreateVmInput } from "./cloud.ts";
import type { SimulatedCloud } from "./simulated-cloud.ts";
import { aVm } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";

const stateOf = async (cloud: SimulatedCloud, ref: string): Promise<string> => (await cloud.getVm(ref)).state;

describe("life of a VM", () => {
  it("is pending, booting, running as time passes", async () => {
    const { clock, cloud } = aStillCloud();
    const seen: string[] = [];
    cloud.subscribe((vm) => seen.push(`${vm.state}@${clock.monotonicMs()}`));
    await cloud.createVm(aVm("a"));
    await clock.advance(5000);
    expect(seen).toEqual(["pending@0", "booting@500", "running@2000"]);
    expect(clock.pending()).toBe(0);
  });

  it("terminates from any state, is remembered for a minute and then forgotten", async () => {
    const { clock, cloud } = aStillCloud();
    const { id } = await cloud.createVm(aVm("a"));
    expect(await cloud.deleteVm(id)).toMatchObject({ state: "terminating", stateReason: "deleted" });
    await clock.advance(999);
    expect(await stateOf(cloud, id)).toBe("terminating");
    await clock.advance(1);
    expect(await stateOf(cloud, id)).toBe("terminated");
    expect(cloud.vms()).toEqual([]);
    await clock.advance(60_000);
    await expect(cloud.getVm(id)).rejects.toMatchObject({ code: "NotFound" });
    expect(clock.pending()).toBe(0);
  });

  it("does not restart its termination when it is deleted again", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    await cloud.deleteVm("a");
    await clock.advance(600);
    await cloud.deleteVm("a");
    await clock.advance(400);
    expect(cloud.vms()).toEqual([]);
  });

  it("stops, starts, dies and is reclaimed by hand", async () => {
    const { clock, cloud } = aStillCloud();
    const { id } = await cloud.createVm(aVm("a"));
    await expect(cloud.powerVm(id, "stop")).rejects.toMatchObject({ code: "FailedPrecondition" });
    await clock.advance(2000);
    await cloud.powerVm(id, "stop");
    expect(await stateOf(cloud, id)).toBe("stopping");
    await clock.advance(500);
    expect(await stateOf(cloud, id)).toBe("stopped");
    await cloud.powerVm(id, "start");
    await clock.advance(1500);
    expect(await stateOf(cloud, id)).toBe("running");
    const reclaimed = await cloud.powerVm(id, "reclaim");
    expect(reclaimed).toMatchObject({ state: "terminating", stateReason: "reclaimed" });
    const killed = await cloud.powerVm(id, "kill");
    expect(killed).toMatchObject({ state: "terminated", stateReason: "killed" });
    await expect(cloud.powerVm(id, "start")).rejects.toMatchObject({ code: "FailedPrecondition" });
  });

  it("keeps its due time when only its tags change", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a"));
    await clock.advance(400);
    expect((await cloud.tagVm("a", { x: "1" })).tags).toEqual({ x: "1" });
    await clock.advance(100);
    expect(await stateOf(cloud, "a")).toBe("booting");
  });

  it("boots with a delay of its own", async () => {
    const { clock, cloud } = aStillCloud();
    await cloud.createVm(aVm("a", { bootDelayMs: 0 }));
    await clock.advance(0);
    expect(await stateOf(cloud, "a")).toBe("running");
  });
});

describe("creating", () => {
  it("gives the same VM for the same token and refuses another input", async () => {
    const { cloud } = aStillCloud();
    const { id } = await cloud.createVm(aVm("a"));
    await expect(cloud.createVm(aVm("a", { userData: Uint8Array.of(1) }))).resolves.toMatchObject({ id });
    await expect(cloud.createVm(aVm("a", { image: "other" }))).rejects.toMatchObject({ code: "AlreadyExists" });
    expect(cloud.vms()).toHaveLength(1);
  });

  it("does not mind in which order tags are given", async () => {
    const { cloud } = aStillCloud();
    const { id } = await cloud.createVm(aVm("a", { tags: { a: "1", b: "2" } }));
    await expect(cloud.createVm(aVm("a", { tags: { b: "2", a: "1" } }))).resolves.toMatchObject({ id });
  });

  it("frees a token when its VM is terminated", async () => {
    const { clock, cloud } = aStillCloud();
    const { id } = await cloud.createVm(aVm("a"));
    await cloud.deleteVm(id);
    await clock.advance(1000);
    expect((await cloud.createVm(aVm("a"))).id).not.toBe(id);
  });

  it("counts VMs against the quota until they are terminated", async () => {
    const { clock, cloud } = aStillCloud({ maxVms: 1 });
    await cloud.createVm(aVm("a"));
    await cloud.deleteVm("a");
    await expect(cloud.createVm(aVm("b"))).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: "quota of 1 VMs is used up",
    });
    await clock.advance(1000);
    await cloud.createVm(aVm("b"));
    expect(cloud.vms().map((vm) => vm.name)).toEqual(["b"]);
  });

  it.each<[string, Partial<CreateVmInput>]>([
    ["name", { name: "Bad_Name" }],
    ["name", { name: "a".repeat(254) }],
    ["token", { token: "no spaces" }],
    ["zone", { zone: "" }],
  ])("refuses a bad %s by its name", async (field, given) => {
    const { cloud } = aStillCloud();
    const call = cloud.createVm(aVm("a", given));
    await expect(call).rejects.toMatchObject({ code: "InvalidArgument" });
    await expect(call).rejects.toThrow(new RegExp(`^${field}: `));
  });

  it("finds a VM by id, provider id and name, and rejects an ambiguous name", async () => {
    const { cloud } = aStillCloud();
    const vm = await cloud.createVm(aVm("a"));
    for (const ref of [vm.id, vm.providerId, "a"]) await expect(cloud.getVm(ref)).resolves.toEqual(vm);
    await cloud.createVm(aVm("a", { token: "another" }));
    await expect(cloud.getVm("a")).rejects.toMatchObject({ code: "OutOfRange" });
  });

  it("takes no tags that reach a prototype", async () => {
    const { cloud } = aStillCloud();
    const tags: Record<string, string> = JSON.parse('{"__proto__":"x"}');
    await cloud.createVm(aVm("a", { tags }));
    expect(Reflect.get({}, "x")).toBeUndefined();
    expect(cloud.vms()[0]?.tags["toString"]).not.toBe("x");
  });
});
