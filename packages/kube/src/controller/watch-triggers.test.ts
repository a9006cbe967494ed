import { expect, test, vi } from "vitest";
import { createStore } from "../cache/store.ts";
import { keyOf } from "../objects/kube-object.ts";
import type { KubeObject } from "../objects/kube-object.ts";
import { priorityOfChange, watchTriggers } from "./watch-triggers.ts";

const machine = (version: number, metadata: object = {}, status: object = {}): KubeObject => ({
  metadata: { name: "a", uid: "u", generation: 1, resourceVersion: String(version), ...metadata },
  status,
});

test.each([
  ["a new object", undefined, machine(1), "change"],
  ["an object that is gone", machine(1), undefined, "change"],
  ["a changed spec", machine(1), machine(2, { generation: 2 }), "change"],
  ["a deletion timestamp", machine(1), machine(2, { deletionTimestamp: "2026-01-01T00:00:00Z" }), "change"],
  ["a label", machine(1), machine(2, { labels: { a: "b" } }), "change"],
  ["an annotation", machine(1), machine(2, { annotations: { a: "b" } }), "change"],
  ["another object of the name", machine(1), machine(2, { uid: "v" }), "change"],
  [
    "a kind without generations",
    machine(1, { generation: undefined }),
    machine(2, { generation: undefined }),
    "change",
  ],
  ["a status", machine(1), machine(2, {}, { phase: "Running" }), "routine"],
] as const)("takes %s for what it is", (_, old, current, priority) => {
  expect(priorityOfChange(old, current)).toBe(priority);
});

test("enqueues a key once, with routine priority, for an object of a resync", () => {
  const store = createStore();
  store.applyEvent(machine(1));
  const enqueue = vi.fn<(key: string, priority?: string) => void>();
  watchTriggers({ store, controller: { enqueue }, keys: (object) => [keyOf(object)] });
  expect(enqueue.mock.calls).toEqual([["a", "change"]]);
  const [same] = store.list();
  expect(priorityOfChange(same, same)).toBe("routine");
});
