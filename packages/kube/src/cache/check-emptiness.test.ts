import { createVirtualClock } from "@millwright/base/testing";
import { describe, expect, it } from "vitest";
import { createServerHistory } from "../client/server-history.ts";
import { added, broken, names, node, page, scripted, start } from "../testing/scripted-api.ts";
import { emptinessChecks } from "./check-emptiness.ts";

/** A reflector of which another cache shares the client. */
function startShared(...script: Parameters<typeof scripted>) {
  const made = scripted(...script);
  const history = createServerHistory(createVirtualClock());
  return { history, ...start({ ...made, api: { ...made.api, history } }) };
}

// kube-apiserver has answered so from a watch cache that was not filled yet; nothing would ever correct it while no object changes.
describe("a cache that is empty after its first list", () => {
  it("looks for an object after a minute, and lists everything again when there is one", async () => {
    const whole = page([node("a", 3), node("b", 4)], 5);
    const { clock, listed, store, history, end } = startShared([page([], 5), page([node("a", 3)], 5), whole], [[], []]);
    await clock.advance(emptinessChecks.firstMs - 1);
    expect([listed.length, store.size]).toEqual([1, 0]);
    await clock.advance(5_000);
    expect(listed[1]).toMatchObject({ limit: 1, metadataOnly: true });
    expect(names(store.list())).toEqual(["a", "b"]);
    expect(history.epoch()).toBe(1);
    await end();
  });

  it("is checked at once when someone is to act by it", async () => {
    const { clock, reflector, listed, store, end } = startShared(
      [page([], 5), page([node("a", 3)], 5), page([node("a", 3)], 5)],
      [[], []],
    );
    const { signal } = new AbortController();
    await reflector.renew(signal);
    expect(listed).toHaveLength(1);
    await clock.advance(0);
    await reflector.renew(signal);
    expect(listed[1]).toMatchObject({ limit: 1 });
    await clock.advance(5_000);
    expect(store.size).toBe(1);
    await end();
  });

  it("is checked ever more rarely, and no more once it holds something and lacks nothing", async () => {
    const { clock, listed, end } = startShared([page([], 5)], [[]]);
    const counts: number[] = [];
    for (const minutes of [1, 2, 4, 8, 10, 10, 10]) {
      await clock.advance(minutes * 60_000);
      counts.push(listed.length - 1);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await end();
    const filled = startShared([page([], 5), page([node("a", 6), node("b", 7)], 7)], [[added("a", 6)]]);
    await filled.clock.advance(3_600_000);
    expect(filled.listed).toHaveLength(2);
    await filled.end();
  });

  it("is checked although an event has brought one of its objects", async () => {
    const whole = page([node("a", 6), node("b", 3)], 6);
    // The first answer is as empty as the list was: it confirms nothing.
    const { clock, listed, store, history, end } = startShared(
      [page([], 5), page([], 6), whole, whole],
      [[added("a", 6)], []],
    );
    await clock.advance(emptinessChecks.firstMs);
    expect([listed.length, names(store.list())]).toEqual([2, ["a"]]);
    await clock.advance(2 * emptinessChecks.firstMs + 5_000);
    expect(listed[1]).toMatchObject({ metadataOnly: true });
    expect(listed[1]).not.toHaveProperty("limit");
    expect(names(store.list())).toEqual(["a", "b"]);
    expect(history.epoch()).toBe(1);
    await end();
  });

  it("does not take an object for missing whose event is still to come", async () => {
    const { clock, listed, history, end } = startShared([page([], 5), page([node("a", 6)], 6)], [[]]);
    await clock.advance(60_000);
    expect([listed.length, history.epoch()]).toEqual([2, 0]);
    await end();
  });

  it("is checked again when the server does not answer", async () => {
    const { clock, store, end } = startShared(
      [page([], 5), broken(), page([node("a", 3)], 5), page([node("a", 3)], 5)],
      [[], []],
    );
    await clock.advance(200_000);
    expect(store.size).toBe(1);
    await end();
  });
});
