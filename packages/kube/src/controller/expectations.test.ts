import { createVirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createStore } from "../cache/store.ts";
import { ApiError, mayHaveSucceeded } from "../client/api-error.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { createExpectations, fulfillFromStore } from "./expectations.ts";

const child = (name: string, more: object = {}): KubeObject => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: "1", ...more },
});

test("is satisfied when everything that was expected has been seen, and only then", () => {
  const expectations = createExpectations({ clock: createVirtualClock() });
  expect(expectations.satisfied("set")).toBe(true);
  expectations.expectCreation("set", "b");
  expectations.expectCreation("set", "a");
  expectations.expectDeletion("set", "uid-c");
  expect(expectations.outstanding("set")).toEqual({
    creations: ["a", "b"],
    deletions: ["uid-c"],
    overdueInMs: 300_000,
  });
  expect(expectations.satisfied("other")).toBe(true);
  expectations.creationObserved("set", "a");
  expectations.creationObserved("other", "b");
  expectations.creationRejected("set", "b");
  expect(expectations.satisfied("set")).toBe(false);
  expectations.deletionObserved("set", "uid-c");
  expect(expectations.satisfied("set")).toBe(true);
});

test("knows which failures leave open whether a write was carried out", () => {
  const failed = (status: number) => mayHaveSucceeded(new ApiError({ status, reason: "X", message: "x" }));
  expect([0, 500, 503, 504].map(failed)).toEqual([true, true, true, true]);
  expect([400, 403, 404, 409, 422, 429].some(failed)).toBe(false);
  expect(mayHaveSucceeded(new DOMException("aborted", "AbortError"))).toBe(true);
});

test("keeps what is overdue until its owner has found out about it", async () => {
  const clock = createVirtualClock();
  const expectations = createExpectations({ clock, timeoutMs: 1_000 });
  expectations.expectCreation("set", "lost");
  await clock.advance(400);
  expectations.expectDeletion("set", "uid-late");
  expect(expectations.outstanding("set")?.overdueInMs).toBe(600);
  expect(expectations.overdue("set")).toEqual({ creations: [], deletions: [] });
  await clock.advance(600);
  expect(expectations.overdue("set")).toEqual({ creations: ["lost"], deletions: [] });
  await clock.advance(400);
  expect(expectations.overdue("set")).toEqual({ creations: ["lost"], deletions: ["uid-late"] });
  expect(expectations.outstanding("set")).toEqual({ creations: ["lost"], deletions: ["uid-late"], overdueInMs: 0 });
  expectations.creationRejected("set", "lost");
  expectations.deletionObserved("set", "uid-late");
  expect(expectations.overdue("set")).toEqual({ creations: [], deletions: [] });
  expect(expectations.satisfied("set")).toBe(true);
});

test("is fulfilled by a store: created, terminating and deleted objects", () => {
  const expectations = createExpectations({ clock: createVirtualClock() });
  const store = createStore();
  fulfillFromStore({ expectations, store, ownerOf: () => "set" });
  expectations.expectCreation("set", "a");
  store.applyEvent(child("a"));
  expect(expectations.satisfied("set")).toBe(true);
  expectations.expectDeletion("set", "uid-a");
  store.applyEvent(child("a", { resourceVersion: "2" }));
  expect(expectations.satisfied("set")).toBe(false);
  store.applyEvent(child("a", { resourceVersion: "3", deletionTimestamp: "2026-01-01T00:00:00Z" }));
  expect(expectations.satisfied("set")).toBe(true);
  expectations.expectDeletion("set", "uid-a");
  store.applyDeletion(child("a", { resourceVersion: "4" }));
  expect(expectations.satisfied("set")).toBe(true);
});

/** A set that wants `wanted` children on a server whose answers get lost and whose events come late. */
function createWorld(wanted: number) {
  const clock = createVirtualClock();
  const store = createStore();
  const expectations = createExpectations({ clock });
  fulfillFromStore({ expectations, store, ownerOf: () => "set" });
  const server = new Map<string, KubeObject>();
  const events: { readonly object: KubeObject; readonly deleted: boolean }[] = [];
  let version = 0;
  let names = 0;
  const commit = (name: string, deleted: boolean): KubeObject => {
    const object = child(name, { resourceVersion: String(++version) });
    if (deleted) server.delete(name);
    else server.set(name, object);
    events.push({ object, deleted });
    return object;
  };
  return {
    server,
    clock,
    /** One pass, whose request ends so. */
    pass(outcome: "answered" | "lost after" | "lost before" | "refused") {
      const { creations, deletions } = expectations.overdue("set");
      for (const name of creations) {
        const made = server.get(name);
        if (made === undefined) expectations.creationRejected("set", name);
        else store.applyWrite(made);
        expectations.creationObserved("set", name);
      }
      for (const uid of deletions) {
        const name = uid.slice("uid-".length);
        if (server.has(name)) expectations.deletionRejected("set", uid);
        else store.applyDelete({ name, uid });
        expectations.deletionObserved("set", uid);
      }
      if (!expectations.satisfied("set")) return;
      const seen = store.list();
      if (seen.length < wanted) {
        const name = `n${names++}`;
        expectations.expectCreation("set", name);
        if (outcome === "refused") expectations.creationRejected("set", name);
        if (outcome === "answered") store.applyWrite(commit(name, false));
        if (outcome === "lost after") commit(name, false);
      } else if (seen.length > wanted) {
        const { name = "", uid = "" } = seen[0]?.metadata ?? {};
        expectations.expectDeletion("set", uid);
        if (outcome === "refused") expectations.deletionRejected("set", uid);
        if (outcome === "answered") {
          commit(name, true);
          store.applyDelete({ name, uid });
          expectations.deletionObserved("set", uid);
        }
        if (outcome === "lost after") commit(name, true);
      }
    },
    deliver() {
      const event = events.shift();
      if (event === undefined) return;
      if (event.deleted) store.applyDeletion(event.object);
      else store.applyEvent(event.object);
    },
    foreignDelete() {
      for (const name of server.keys()) return void commit(name, true);
    },
  };
}

test("never makes more children than wanted, whatever answers are lost and however late events are", async () => {
  const step = fc.constantFrom("answered", "lost after", "lost before", "refused", "deliver", "foreignDelete", "wait");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.nat(4), async (steps, wanted) => {
      const world = createWorld(wanted);
      for (const each of steps) {
        if (each === "deliver") world.deliver();
        else if (each === "foreignDelete") world.foreignDelete();
        else if (each === "wait") await world.clock.advance(300_000);
        else world.pass(each);
        expect(world.server.size).toBeLessThanOrEqual(wanted);
      }
      // Once all is delivered it converges.
      for (let left = steps.length + wanted; left > 0; left--) {
        for (let events = steps.length + wanted; events > 0; events--) world.deliver();
        await world.clock.advance(300_000);
        world.pass("answered");
      }
      expect(world.server.size).toBe(wanted);
    }),
    { numRuns: 200 },
  );
});
