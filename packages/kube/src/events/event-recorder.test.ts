import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import type { ApiClient } from "../client/api-client.ts";
import { eventResource } from "../objects/built-in-resources.ts";
import type { ApiObject } from "../objects/kube-object.ts";
import { serverError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createEventRecorder } from "./event-recorder.ts";
import type { EventRecorderOptions } from "./event-recorder.ts";

const machine: ApiObject = {
  apiVersion: "machine.sapcloud.io/v1alpha1",
  kind: "Machine",
  metadata: { namespace: "n", name: "m", uid: "u" },
};
const event = { type: "Normal", reason: "Created", message: "The machine was created" } as const;

function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = createVirtualClock({ now: new Date("2026-01-02T03:04:05.678Z") });
  const api = createFakeApi({ clock });
  const recorder = createEventRecorder({ api, component: "millwright", clock, random: seededRandom(1), ...options });
  return { clock, api, recorder };
}

test("writes an event that kubectl describe finds", async () => {
  const { api, recorder } = setUp();
  recorder.record(machine, event);
  await recorder.flush();
  expect(api.all(eventResource)).toEqual([
    expect.objectContaining({
      apiVersion: "v1",
      kind: "Event",
      metadata: expect.objectContaining({ namespace: "n", name: expect.stringMatching(/^m\.[0-9a-f]{16}$/) }),
      involvedObject: {
        apiVersion: "machine.sapcloud.io/v1alpha1",
        kind: "Machine",
        namespace: "n",
        name: "m",
        uid: "u",
      },
      type: "Normal",
      reason: "Created",
      message: "The machine was created",
      source: { component: "millwright" },
      reportingComponent: "millwright",
      firstTimestamp: "2026-01-02T03:04:05Z",
      lastTimestamp: "2026-01-02T03:04:05Z",
      count: 1,
    }),
  ]);
});

test("counts equal events within ten minutes together, and others on their own", async () => {
  const { clock, api, recorder } = setUp();
  for (let i = 0; i < 5; i++) {
    recorder.record(machine, event);
    await recorder.flush();
    await clock.advance(9 * 60_000);
  }
  recorder.record(machine, { ...event, reason: "Other" });
  await recorder.flush();
  expect(new Set(api.all(eventResource).map((each) => each["count"]))).toEqual(new Set([1, 5]));
  await clock.advance(11 * 60_000);
  recorder.record(machine, event);
  await recorder.flush();
  expect(api.all(eventResource)).toHaveLength(3);
});

test("sends a burst of equal events in two requests", async () => {
  const { api, recorder } = setUp();
  for (let i = 0; i < 500; i++) recorder.record(machine, event);
  await recorder.flush();
  expect(api.all(eventResource).map((each) => each["count"])).toEqual([500]);
  expect(api.calls.length).toBeLessThanOrEqual(2);
});

test("writes ten similar events one by one, and combines the rest in one that is written every ten seconds", async () => {
  const { clock, api, recorder } = setUp();
  const record = (name: string): void => recorder.record(machine, { ...event, message: `Created ${name}` });
  for (let i = 1; i <= 60; i++) record(`m${i}`);
  await clock.advance(1_000);
  const combined = () =>
    api.all(eventResource).filter((each) => String(each["message"]).startsWith("(combined from similar events): "));
  expect(api.all(eventResource)).toHaveLength(11);
  expect(combined()).toMatchObject([{ count: 50, message: "(combined from similar events): Created m60" }]);

  api.calls.length = 0;
  for (let i = 61; i <= 80; i++) {
    record(`m${i}`);
    await clock.advance(400);
  }
  record("m3");
  recorder.record(machine, { ...event, type: "Warning", message: "Created m99" });
  await clock.advance(0);
  expect(api.calls.map(({ verb }) => verb)).toEqual(["patch", "create"]);
  await clock.advance(10_000);
  expect(combined()).toMatchObject([{ count: 70, message: "(combined from similar events): Created m80" }]);
  expect(api.calls).toHaveLength(3);
});

test("writes similar events one by one again after ten minutes of silence", async () => {
  const { clock, api, recorder } = setUp();
  for (let i = 1; i <= 12; i++) recorder.record(machine, { ...event, message: `Created m${i}` });
  await clock.advance(11 * 60_000);
  recorder.record(machine, { ...event, message: "Created m13" });
  await recorder.flush();
  expect(api.all(eventResource).map((each) => each["message"])).toContain("Created m13");
});

test("writes normal events of many objects up to the budget, warnings always, and normal events again later", async () => {
  const { clock, api, recorder } = setUp({ normalEvents: { burst: 10, perSecond: 2 } });
  const record = (name: string, type: "Normal" | "Warning"): void =>
    recorder.record({ ...machine, metadata: { ...machine.metadata, name, uid: name } }, { ...event, type });
  for (let i = 0; i < 30; i++) record(`m${i}`, "Normal");
  for (let i = 0; i < 30; i++) record(`m${i}`, "Warning");
  await recorder.flush();
  const count = (type: string): number => api.all(eventResource).filter((each) => each["type"] === type).length;
  expect([count("Normal"), count("Warning"), recorder.counts()]).toEqual([10, 30, { sent: 40, dropped: 20 }]);
  await clock.advance(3_000);
  for (let i = 30; i < 50; i++) record(`m${i}`, "Normal");
  await recorder.flush();
  expect(count("Normal")).toBe(16);
  // A higher count of an event that is written already is not a new one.
  record("m0", "Normal");
  await recorder.flush();
  expect(api.all(eventResource).filter((each) => each["count"] === 2)).toHaveLength(1);
});

test("writes what waits to be combined when it is flushed, and drops it when it is closed", async () => {
  const { clock, api, recorder } = setUp();
  const record = (from: number, to: number): void => {
    for (let i = from; i <= to; i++) recorder.record(machine, { ...event, message: `Created m${i}` });
  };
  record(1, 12);
  await clock.advance(100);
  record(13, 14);
  await recorder.flush();
  expect(api.all(eventResource).map((each) => each["count"])).toContain(4);
  record(15, 16);
  recorder.close();
  expect(recorder.counts().dropped).toBe(1);
  await clock.advance(60_000);
  expect(api.all(eventResource).map((each) => each["count"])).toContain(4);
});

test("starts again when the API server has forgotten the event", async () => {
  const { api, recorder } = setUp();
  recorder.record(machine, event);
  await recorder.flush();
  for (const { metadata } of api.all(eventResource)) {
    api.remove(eventResource, { namespace: "n", name: metadata.name ?? "" });
  }
  recorder.record(machine, event);
  await recorder.flush();
  expect(api.all(eventResource).map((each) => each["count"])).toEqual([2]);
});

test("retries when the API server fails, and drops an event after five attempts", async () => {
  const { clock, api, recorder } = setUp();
  api.inject({ verb: "create", error: serverError(), times: 4 });
  recorder.record(machine, event);
  await clock.advance(60_000);
  expect(recorder.counts()).toEqual({ sent: 1, dropped: 0 });
  api.inject({ verb: "create", error: serverError(), times: 5 });
  recorder.record(machine, { ...event, reason: "Lost" });
  await clock.advance(60_000);
  expect(recorder.counts()).toEqual({ sent: 1, dropped: 1 });
});

test("counts on in an event that was created although the response was lost", async () => {
  const { clock, api, recorder } = setUp();
  api.inject({ verb: "create", error: serverError(), phase: "after" });
  recorder.record(machine, event);
  await clock.advance(1_000);
  expect(recorder.counts()).toEqual({ sent: 1, dropped: 0 });
  recorder.record(machine, event);
  await recorder.flush();
  expect(recorder.counts()).toEqual({ sent: 2, dropped: 0 });
  expect(api.all(eventResource)).toEqual([expect.objectContaining({ count: 2 })]);
});

test("neither waits nor throws nor grows without end when the API server hangs", async () => {
  const hangs: Pick<ApiClient, "create" | "patch"> = {
    create: () => new Promise(() => {}),
    patch: () => new Promise(() => {}),
  };
  const { recorder } = setUp({ api: hangs, capacity: 10 });
  for (let i = 0; i < 100; i++) recorder.record(machine, { ...event, reason: `R${i}` });
  expect(recorder.counts().dropped).toBe(89);
  const stop = new AbortController();
  const flushed = recorder.flush(stop.signal);
  stop.abort(new Error("stopping"));
  await expect(flushed).rejects.toThrow("stopping");
  recorder.close();
  expect(recorder.counts().dropped).toBe(99);
  recorder.record(machine, event);
  expect(recorder.counts().dropped).toBe(99);
});

test("puts events of cluster-scoped objects where kubectl looks for them, and cuts what is too long", async () => {
  const { api, recorder } = setUp();
  const node: ApiObject = { apiVersion: "v1", kind: "Node", metadata: { name: "x".repeat(253), uid: "u" } };
  recorder.record(node, { type: "Warning", reason: "R".repeat(500), message: "m".repeat(5_000) });
  await recorder.flush();
  const [stored] = api.all(eventResource);
  expect(stored?.metadata.namespace).toBe("default");
  expect(stored?.metadata.name?.length).toBeLessThan(254);
  expect(stored).toMatchObject({ reason: "R".repeat(128), message: "m".repeat(1024) });
});
