import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { describe, expect, it, vi } from "vitest";
import { podResource } from "../objects/built-in-resources.ts";
import { conflictError, notFoundError, serverError, tooManyRequestsError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createEvictionQueue, type EvictionOrder } from "./eviction-queue.ts";

function setUp(
  names: readonly string[] = ["web"],
  options: { readonly perSecond?: number; readonly parallel?: number; readonly timersLateMs?: number } = {},
) {
  const virtual = createVirtualClock();
  const { timersLateMs = 0, ...limits } = options;
  const clock = { ...virtual, setTimer: (ms: number, run: () => void) => virtual.setTimer(ms + timersLateMs, run) };
  const api = createFakeApi({ clock });
  for (const name of names) api.seed(podResource, { metadata: { namespace: "default", name, uid: `uid-${name}` } });
  const queue = createEvictionQueue({ api, clock, random: seededRandom(1), ...limits });
  const enqueue = vi.fn<() => void>();
  const order = (name: string, kind: EvictionOrder["kind"] = "evict"): EvictionOrder => ({
    kind,
    namespace: "default",
    name,
    uid: `uid-${name}`,
  });
  const settle = (ms = 0) => clock.advance(ms);
  return { clock, api, queue, enqueue, order, settle };
}

describe("an order", () => {
  it("is queued, sent once however often it is added, and notifies its drain of the response", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    queue.add(order("web"), enqueue);
    queue.add(order("web"), enqueue);
    expect(queue.view("uid-web")).toEqual({ state: "queued" });
    await settle();
    queue.add(order("web"), enqueue);
    await settle();
    expect(queue.view("uid-web")).toEqual({ state: "accepted" });
    expect(enqueue).toHaveBeenCalledOnce();
    expect(api.writes()).toHaveLength(1);
  });

  it("notifies no drain when its pod was forgotten before the response", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    queue.add(order("web"), enqueue);
    queue.forget("uid-web");
    await settle();
    expect(api.writes()).toHaveLength(1);
    expect(enqueue).not.toHaveBeenCalled();
  });

  it("is by policy/v1 and for this very pod", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    queue.add(order("web"), enqueue);
    await settle();
    expect(api.writes()).toMatchObject([
      {
        subresource: "eviction",
        body: { apiVersion: "policy/v1", deleteOptions: { preconditions: { uid: "uid-web" } } },
      },
    ]);
  });

  it("to delete keeps the grace period, to kill does not", async () => {
    const { api, queue, enqueue, order, settle } = setUp(["a", "b"]);
    const spy = vi.spyOn(api, "delete");
    queue.add(order("a", "delete"), enqueue);
    queue.add(order("b", "kill"), enqueue);
    await settle(100);
    expect(spy.mock.calls.map(([, , options]) => options)).toEqual([
      { uid: "uid-a" },
      { uid: "uid-b", gracePeriodSeconds: 0 },
    ]);
  });

  it("that is stronger is sent although the weaker one was accepted, and not the other way round", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    queue.add(order("web"), enqueue);
    await settle();
    queue.add(order("web", "kill"), enqueue);
    queue.add(order("web"), enqueue);
    await settle(100);
    queue.add(order("web", "delete"), enqueue);
    await settle(100);
    expect(api.writes().map(({ verb }) => verb)).toEqual(["create", "delete"]);
  });

  it("is accepted when the pod does not exist", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    api.inject({ verb: "create", subresource: "eviction", error: notFoundError() });
    queue.add(order("web"), enqueue);
    await settle();
    expect(queue.view("uid-web")).toEqual({ state: "accepted" });
  });

  it("that met a conflict is given again: the pod may be the same, and the conflict one within the API server", async () => {
    const { api, queue, enqueue, order, settle } = setUp();
    api.inject({ verb: "create", subresource: "eviction", error: conflictError() });
    queue.add(order("web"), enqueue);
    await settle();
    expect(queue.view("uid-web")).toMatchObject({ state: "rejected", isBudget: false });
    queue.add(order("web"), enqueue);
    expect(queue.view("uid-web")).toMatchObject({ state: "queued", rejection: { isBudget: false } });
    await settle(100);
    expect(queue.view("uid-web")).toEqual({ state: "accepted" });
  });

  it("that a budget rejects reports it, and may be repeated soon, with growing delays", async () => {
    const { api, queue, enqueue, order, settle, clock } = setUp();
    const waits: number[] = [];
    for (let round = 0; round < 7; round++) {
      api.inject({ verb: "create", subresource: "eviction", error: tooManyRequestsError({ budget: "web" }) });
      queue.add(order("web"), enqueue);
      await settle(100);
      const view = queue.view("uid-web");
      expect(view).toMatchObject({
        state: "rejected",
        isBudget: true,
        message: expect.stringContaining("disruption budget"),
      });
      if (view?.state === "rejected") waits.push(view.retryAt - clock.now().getTime());
    }
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(Math.max(...waits)).toBeGreaterThan(5_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(20_000);
  });

  it("that fails is reported as an error, and respects the server's retry-after", async () => {
    const { api, queue, enqueue, order, settle, clock } = setUp();
    api.inject({ verb: "create", subresource: "eviction", error: serverError() });
    queue.add(order("web"), enqueue);
    await settle();
    expect(queue.view("uid-web")).toMatchObject({ state: "rejected", isBudget: false });
    api.inject({ verb: "create", subresource: "eviction", error: tooManyRequestsError({ retryAfterMs: 70_000 }) });
    queue.add(order("web"), enqueue);
    await settle(100);
    const view = queue.view("uid-web");
    expect(view?.state === "rejected" && view.retryAt).toBeGreaterThanOrEqual(clock.now().getTime() + 69_900);
  });
});

it("is not delayed for days by a server, or a proxy, that asks for it", async () => {
  const { api, queue, enqueue, order, settle, clock } = setUp();
  api.inject({
    verb: "create",
    subresource: "eviction",
    error: tooManyRequestsError({ retryAfterMs: 365 * 86_400_000 }),
  });
  queue.add(order("web"), enqueue);
  await settle();
  const view = queue.view("uid-web");
  expect(view?.state === "rejected" ? view.retryAt - clock.now().getTime() : undefined).toBe(5 * 60_000);
});

describe("the orders of all drains", () => {
  it("go out at the rate that was set", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const { api, queue, enqueue, order, settle } = setUp(names, { perSecond: 10 });
    for (const name of names) queue.add(order(name), enqueue);
    expect(queue.depth).toBe(30);
    await settle(0);
    expect(api.writes()).toHaveLength(1);
    await settle(1_000);
    expect(api.writes()).toHaveLength(11);
    await settle(2_000);
    expect(api.writes()).toHaveLength(30);
    expect(queue.depth).toBe(0);
    expect(enqueue).toHaveBeenCalledTimes(30);
  });

  it("keep the rate though timers are late", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const { api, queue, enqueue, order, settle } = setUp(names, { perSecond: 50, timersLateMs: 15 });
    for (const name of names) queue.add(order(name), enqueue);
    await settle(1_000);
    expect(api.writes().length).toBeGreaterThanOrEqual(50);
    expect(api.writes().length).toBeLessThanOrEqual(53);
  });

  it("do not outrun the server: only so many are unanswered", async () => {
    const names = ["a", "b", "c"];
    const { api, queue, enqueue, order, settle } = setUp(names, { perSecond: 1_000, parallel: 2 });
    const answers = names.map(() => Promise.withResolvers<never>());
    let sent = 0;
    vi.spyOn(api, "create").mockImplementation(() => answers[sent++]?.promise ?? Promise.reject(new Error("too many")));
    for (const name of names) queue.add(order(name), enqueue);
    await settle(1_000);
    expect(sent).toBe(2);
    answers[0]?.reject(serverError());
    await settle(1_000);
    expect(sent).toBe(3);
    answers[1]?.reject(serverError());
    answers[2]?.reject(serverError());
    await queue.close();
  });

  it("skip a pod that was deleted before its turn", async () => {
    const { api, queue, enqueue, order, settle } = setUp(["a", "b"], { perSecond: 1 });
    queue.add(order("a"), enqueue);
    queue.add(order("b"), enqueue);
    queue.forget("uid-b");
    await settle(5_000);
    expect(api.writes().map(({ key }) => key)).toEqual(["default/a"]);
    expect(queue.view("uid-b")).toBeUndefined();
  });

  it("end with the queue", async () => {
    const { api, queue, enqueue, order, settle } = setUp(["a", "b"], { perSecond: 1 });
    queue.add(order("a"), enqueue);
    queue.add(order("b"), enqueue);
    await queue.close();
    queue.add(order("b", "kill"), enqueue);
    await settle(5_000);
    expect(api.writes()).toHaveLength(1);
  });
});
