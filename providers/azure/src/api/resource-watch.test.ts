import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { ArmFailure } from "./arm-failure.ts";
import { createResourceWatch, type WatchedResource } from "./resource-watch.ts";

const never = new AbortController().signal;

/** A group of resources, and the watch over it. Reads take no time. */
function aGroup({ pageSize = 100 } = {}) {
  const clock = createVirtualClock();
  const states = new Map<string, string>();
  const failures: Error[] = [];
  const reads: { readonly kind: "get" | "list"; readonly atMs: number }[] = [];
  const read = (kind: "get" | "list"): void => {
    reads.push({ kind, atMs: clock.monotonicMs() });
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const resourceOf = (name: string): WatchedResource | undefined => {
    const provisioningState = states.get(name);
    return provisioningState === undefined ? undefined : { name: name.toUpperCase(), provisioningState };
  };
  const watch = createResourceWatch(
    {
      get: async (_, name) => {
        read("get");
        return resourceOf(name);
      },
      list: async () => {
        read("list");
        const all = [...states.keys()].flatMap((name) => resourceOf(name) ?? []);
        return Array.from({ length: Math.ceil(all.length / pageSize) }, (_, page) =>
          all.slice(page * pageSize, (page + 1) * pageSize),
        );
      },
    },
    { clock, pollMs: 2_000 },
  );
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `m${index}`);
  return { clock, states, failures, reads, watch: (name: string, signal = never) => watch("g", name, signal), names };
}

const throttled = (retryAfterMs?: number): ArmFailure =>
  new ArmFailure({
    code: "TooManyRequests",
    message: "slow",
    statusCode: 429,
    requestIds: {},
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe("watching resources", () => {
  it("ends with the resource when nothing goes on with it any more, or with nothing when it is gone", async () => {
    const { clock, states, watch } = aGroup();
    states.set("m0", "Creating").set("m1", "Deleting").set("m2", "Updating");
    const ends = Promise.all([watch("m0"), watch("m1"), watch("m2"), watch("none")]);
    await clock.advance(10_000);
    states.set("m0", "Succeeded").set("m2", "Failed").delete("m1");
    await clock.advance(2_000);
    expect(await ends).toEqual([
      { name: "M0", provisioningState: "Succeeded" },
      undefined,
      { name: "M2", provisioningState: "Failed" },
      undefined,
    ]);
    expect(clock.pending()).toBe(0);
  });

  it("reads one list for many, and a few one by one", async () => {
    const { clock, states, reads, watch, names } = aGroup();
    for (const name of names(100)) states.set(name, "Creating");
    const many = Promise.all(names(100).map((name) => watch(name)));
    await clock.advance(20_000);
    expect(reads).toHaveLength(10);
    expect(new Set(reads.map(({ kind }) => kind))).toEqual(new Set(["list"]));
    for (const name of names(98)) states.set(name, "Succeeded");
    await clock.advance(4_000);
    expect(reads.slice(-2).map(({ kind }) => kind)).toEqual(["get", "get"]);
    for (const name of names(100)) states.set(name, "Succeeded");
    await clock.advance(2_000);
    expect(await many).toHaveLength(100);
  });

  it("looks the less often the longer the list is", async () => {
    const { clock, states, reads, watch, names } = aGroup({ pageSize: 10 });
    for (const name of names(400)) states.set(name, "Creating");
    const all = names(400).map((name) => watch(name).catch(() => undefined));
    await clock.advance(2_000);
    expect(reads).toHaveLength(1);
    // 40 pages, 100 ms for each.
    await clock.advance(4_000);
    expect(reads.map(({ atMs }) => atMs)).toEqual([2_000, 6_000]);
    for (const name of names(400)) states.set(name, "Succeeded");
    await clock.advance(4_000);
    await Promise.all(all);
  });

  it("reads what a list of several pages lacks by itself, some at a time", async () => {
    const { clock, states, reads, watch, names } = aGroup({ pageSize: 100 });
    for (const name of names(400)) states.set(name, "Deleting");
    const all = Promise.all(names(300).map((name) => watch(name)));
    await clock.advance(2_000);
    for (const name of names(60)) states.delete(name);
    reads.splice(0);
    await clock.advance(2_000);
    expect(reads.map(({ kind }) => kind)).toEqual(["list", ...Array.from({ length: 50 }, () => "get")]);
    reads.splice(0);
    await clock.advance(5_400);
    expect(reads.map(({ kind }) => kind)).toEqual(["list", ...Array.from({ length: 10 }, () => "get")]);
    for (const name of names(300)) states.set(name, "Failed");
    await clock.advance(10_000);
    expect((await all).filter((found) => found === undefined)).toHaveLength(60);
  });

  it("goes on after a look that failed, and does not look before Azure wants it to", async () => {
    const { clock, states, failures, reads, watch } = aGroup();
    states.set("m0", "Creating");
    failures.push(throttled(7_000), throttled());
    const end = watch("m0");
    await clock.advance(2_000);
    states.set("m0", "Succeeded");
    await clock.advance(30_000);
    expect(await end).toMatchObject({ provisioningState: "Succeeded" });
    expect(reads.map(({ atMs }) => atMs)).toEqual([2_000, 9_000, 17_000]);
  });

  it.each([
    ["every look fails", Array.from({ length: 9 }, () => throttled())],
    ["Azure asks for more than a minute", [throttled(61_000)]],
    ["it lacks a right", [Object.assign(new Error("no"), { code: "AuthorizationFailed", statusCode: 403 })]],
  ])("fails when %s", async (_, given) => {
    const { clock, states, failures, watch } = aGroup();
    states.set("m0", "Creating");
    failures.push(...given);
    const end = watch("m0").catch((error: unknown) => error);
    await clock.advance(120_000);
    expect(await end).toBe(given[Math.min(given.length, 5) - 1]);
    expect(clock.pending()).toBe(0);
  });

  it("ends with the signal of who waits, and reads nothing for no one", async () => {
    const { clock, states, reads, watch } = aGroup();
    states.set("m0", "Creating");
    const stop = new AbortController();
    const end = watch("m0", stop.signal).catch((error: unknown) => error);
    await clock.advance(2_000);
    const reason = new Error("stopped");
    stop.abort(reason);
    expect(await end).toBe(reason);
    await clock.advance(60_000);
    expect(reads).toHaveLength(1);
  });
});
