import { isConfigError, seededRandom } from "@millwright/core";
import { type VirtualClock, createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import type { CreateVmInput } from "./cloud.ts";
import { type SimulatedCloud, type SimulatedCloudOptions, createSimulatedCloud } from "./simulated-cloud.ts";

interface Setting {
  readonly clock: VirtualClock;
  readonly cloud: SimulatedCloud;
}

const setUp = (options: Partial<SimulatedCloudOptions> = {}): Setting => {
  const clock = createVirtualClock();
  const cloud = createSimulatedCloud({
    clock,
    random: seededRandom(1),
    bootDelayMs: 2000,
    deleteDelayMs: 1000,
    ...options,
  });
  return { clock, cloud };
};

const vmNamed = (name: string, given: Partial<CreateVmInput> = {}): CreateVmInput => ({
  name,
  token: `token-${name}`,
  machineType: "small",
  region: "local",
  zone: "local-a",
  image: "simulated",
  ...given,
});

const stateOf = async (cloud: SimulatedCloud, ref: string): Promise<string> => (await cloud.getVm(ref)).state;

describe("life of a VM", () => {
  it("is pending, booting, running as time passes", async () => {
    const { clock, cloud } = setUp();
    const seen: string[] = [];
    cloud.subscribe((vm) => seen.push(`${vm.state}@${clock.monotonicMs()}`));
    await cloud.createVm(vmNamed("a"));
    await clock.advance(5000);
    expect(seen).toEqual(["pending@0", "booting@500", "running@2000"]);
    expect(clock.pending()).toBe(0);
  });

  it("terminates from any state, is remembered for a minute and then forgotten", async () => {
    const { clock, cloud } = setUp();
    const { id } = await cloud.createVm(vmNamed("a"));
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

  it("does not start its termination anew when it is deleted again", async () => {
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
    await cloud.deleteVm("a");
    await clock.advance(600);
    await cloud.deleteVm("a");
    await clock.advance(400);
    expect(cloud.vms()).toEqual([]);
  });

  it("stops, starts, dies and is reclaimed by hand", async () => {
    const { clock, cloud } = setUp();
    const { id } = await cloud.createVm(vmNamed("a"));
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
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
    await clock.advance(400);
    expect((await cloud.tagVm("a", { x: "1" })).tags).toEqual({ x: "1" });
    await clock.advance(100);
    expect(await stateOf(cloud, "a")).toBe("booting");
  });

  it("boots with a delay of its own", async () => {
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a", { bootDelayMs: 0 }));
    await clock.advance(0);
    expect(await stateOf(cloud, "a")).toBe("running");
  });
});

describe("creating", () => {
  it("gives the same VM for the same token and refuses another input", async () => {
    const { cloud } = setUp();
    const { id } = await cloud.createVm(vmNamed("a"));
    await expect(cloud.createVm(vmNamed("a", { userData: Uint8Array.of(1) }))).resolves.toMatchObject({ id });
    await expect(cloud.createVm(vmNamed("a", { image: "other" }))).rejects.toMatchObject({ code: "AlreadyExists" });
    expect(cloud.vms()).toHaveLength(1);
  });

  it("does not mind in which order tags are given", async () => {
    const { cloud } = setUp();
    const { id } = await cloud.createVm(vmNamed("a", { tags: { a: "1", b: "2" } }));
    await expect(cloud.createVm(vmNamed("a", { tags: { b: "2", a: "1" } }))).resolves.toMatchObject({ id });
  });

  it("frees a token when its VM is terminated", async () => {
    const { clock, cloud } = setUp();
    const { id } = await cloud.createVm(vmNamed("a"));
    await cloud.deleteVm(id);
    await clock.advance(1000);
    expect((await cloud.createVm(vmNamed("a"))).id).not.toBe(id);
  });

  it("counts VMs against the quota until they are terminated", async () => {
    const { clock, cloud } = setUp({ maxVms: 1 });
    await cloud.createVm(vmNamed("a"));
    await cloud.deleteVm("a");
    await expect(cloud.createVm(vmNamed("b"))).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: "quota of 1 VMs is used up",
    });
    await clock.advance(1000);
    await cloud.createVm(vmNamed("b"));
    expect(cloud.vms().map((vm) => vm.name)).toEqual(["b"]);
  });

  it.each<[string, Partial<CreateVmInput>]>([
    ["name", { name: "Bad_Name" }],
    ["name", { name: "a".repeat(254) }],
    ["token", { token: "no spaces" }],
    ["zone", { zone: "" }],
  ])("refuses a bad %s by its name", async (field, given) => {
    const { cloud } = setUp();
    const call = cloud.createVm(vmNamed("a", given));
    await expect(call).rejects.toMatchObject({ code: "InvalidArgument" });
    await expect(call).rejects.toThrow(new RegExp(`^${field}: `));
  });

  it("finds a VM by id, provider id and name, and says when a name fits several", async () => {
    const { cloud } = setUp();
    const vm = await cloud.createVm(vmNamed("a"));
    for (const ref of [vm.id, vm.providerId, "a"]) await expect(cloud.getVm(ref)).resolves.toEqual(vm);
    await cloud.createVm(vmNamed("a", { token: "another" }));
    await expect(cloud.getVm("a")).rejects.toMatchObject({ code: "OutOfRange" });
  });

  it("takes no tags that reach a prototype", async () => {
    const { cloud } = setUp();
    const tags: Record<string, string> = JSON.parse('{"__proto__":"x"}');
    await cloud.createVm(vmNamed("a", { tags }));
    expect(Reflect.get({}, "x")).toBeUndefined();
    expect(cloud.vms()[0]?.tags["toString"]).not.toBe("x");
  });
});

describe("faults", () => {
  it("hit as often as they say and then are gone", async () => {
    const { cloud } = setUp();
    await cloud.addFault({ operation: "list", code: "Unavailable", times: 2, retryAfterMs: 10 });
    for (let hit = 0; hit < 2; hit++) {
      await expect(cloud.listVms()).rejects.toMatchObject({ code: "Unavailable", retryAfterMs: 10 });
    }
    await expect(cloud.listVms()).resolves.toEqual([]);
    await expect(cloud.listFaults()).resolves.toEqual([]);
  });

  it("hit only what they name", async () => {
    const { cloud } = setUp();
    await cloud.addFault({ operation: "get", code: "Internal", match: "web-" });
    await cloud.createVm(vmNamed("db-1"));
    const web = await cloud.createVm(vmNamed("web-1"));
    await cloud.getVm("db-1");
    await expect(cloud.getVm(web.id)).rejects.toMatchObject({ code: "Internal" });
  });

  it("lose the reply of a call that was accepted", async () => {
    const { cloud } = setUp();
    await cloud.addFault({ operation: "create", code: "DeadlineExceeded", afterAcceptance: true });
    await expect(cloud.createVm(vmNamed("a"))).rejects.toMatchObject({ code: "DeadlineExceeded" });
    expect(cloud.vms()).toHaveLength(1);
  });

  it("hit about as often as their probability says", async () => {
    const { cloud } = setUp();
    await cloud.addFault({ operation: "*", code: "Aborted", probability: 0.25, times: 100_000 });
    let hits = 0;
    for (let call = 0; call < 400; call++) await cloud.listVms().catch(() => hits++);
    expect(hits).toBeGreaterThan(60);
    expect(hits).toBeLessThan(140);
  });

  it("delay on top of the latency, and end with the caller's abort", async () => {
    const { clock, cloud } = setUp({ latencyMs: 100 });
    await cloud.addFault({ operation: "list", delayMs: 400 });
    let done = false;
    const listed = cloud.listVms().then(() => (done = true));
    await clock.advance(499);
    expect(done).toBe(false);
    await clock.advance(1);
    await listed;
    const stuck = cloud.createVm(vmNamed("a"), { signal: AbortSignal.abort(new Error("stop")) });
    await expect(stuck).rejects.toThrow("stop");
    expect(cloud.vms()).toEqual([]);
  });

  it("are refused when they make no sense", async () => {
    const { cloud } = setUp();
    await expect(cloud.addFault({ operation: "list", probability: 2 })).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    await expect(cloud.addFault({ operation: "list", times: 0 })).rejects.toThrow(/times/);
  });

  it("are taken away together", async () => {
    const { cloud } = setUp();
    await cloud.addFault({ operation: "*", code: "Internal", times: 5 });
    await cloud.clearFaults();
    await expect(cloud.listVms()).resolves.toEqual([]);
  });
});

describe("calls", () => {
  it("are recorded with their outcome and counted", async () => {
    const { cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
    await cloud.getVm("b").catch(() => undefined);
    await cloud.listVms({}, { signal: AbortSignal.abort() }).catch(() => undefined);
    expect(cloud.calls.map((call) => `${call.operation} ${call.subjects.join()} ${call.outcome}`)).toEqual([
      "create a OK",
      "get b NotFound",
      "list  aborted",
    ]);
    await expect(cloud.countCalls()).resolves.toMatchObject({ create: 1, get: 1, list: 1, delete: 0 });
  });
});

describe("changes", () => {
  it("begin with everything and go on with what changed", async () => {
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
    await cloud.createVm(vmNamed("b"));
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
    const { clock, cloud } = setUp();
    const { cursor } = await cloud.changes({});
    const waiting = cloud.changes(cursor, { waitMs: 5000 });
    await clock.advance(10);
    await cloud.createVm(vmNamed("a"));
    await expect(waiting).resolves.toMatchObject({ vms: [{ name: "a", state: "pending" }] });
    await clock.advance(10_000);
    const later = await cloud.changes({});
    const idle = cloud.changes(later.cursor, { waitMs: 5000 });
    await clock.advance(5000);
    await expect(idle).resolves.toMatchObject({ vms: [], reset: false });
    expect(clock.pending()).toBe(0);
  });

  it("end when the caller goes and when the cloud closes", async () => {
    const { clock, cloud } = setUp();
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

  it("start anew for a cursor that is too old, of another life, or ahead", async () => {
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
    const { cursor } = await cloud.changes({});
    await cloud.powerVm("a", "kill");
    await clock.advance(60_000);
    for (const old of [cursor, { ...cursor, epoch: "other" }, { ...cursor, revision: 1000 }]) {
      await expect(cloud.changes(old)).resolves.toMatchObject({ reset: true, vms: [] });
    }
  });
});

describe("snapshot", () => {
  it("goes on where the cloud stopped: states, tokens, user data and due moves", async () => {
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a", { userData: Uint8Array.of(0, 255), tags: { k: "v" } }));
    await clock.advance(600);
    await cloud.createVm(vmNamed("b"));
    await cloud.deleteVm("b");
    const { cursor } = await cloud.changes({});
    const stored: unknown = JSON.parse(JSON.stringify(cloud.snapshot()));
    cloud.close();
    expect(clock.pending()).toBe(0);

    await clock.advance(700);
    const again = createSimulatedCloud({ clock, snapshot: stored, deleteDelayMs: 1000 });
    await expect(again.readUserData("a")).resolves.toEqual(Uint8Array.of(0, 255));
    const created = await again
      .createVm(vmNamed("a", { userData: Uint8Array.of(0, 255), tags: { k: "v" }, bootDelayMs: 2000 }))
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
    const { clock, cloud } = setUp();
    await cloud.createVm(vmNamed("a"));
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
      /stored state of the simulated cloud cannot be read: .*; delete the file to start anew/,
    );
  });
});
