import { expect, test } from "vitest";
import { createFakeApi } from "../testing/fake-api.ts";
import { nodeResource } from "./built-in-resources.ts";
import { addFinalizerPatch, hasFinalizer, isBeingDeleted, removeFinalizerPatch } from "./finalizers.ts";

const node = { metadata: { name: "a", resourceVersion: "5", finalizers: ["theirs", "ours"] } };

test("keeps the finalizers of others, and names the version that it is computed from", () => {
  expect(addFinalizerPatch(node, "new")).toEqual({
    metadata: { finalizers: ["theirs", "ours", "new"], resourceVersion: "5" },
  });
  expect(removeFinalizerPatch(node, "ours")).toEqual({ metadata: { finalizers: ["theirs"], resourceVersion: "5" } });
  expect(addFinalizerPatch({ metadata: {} }, "first")).toEqual({ metadata: { finalizers: ["first"] } });
});

test("changes nothing by removing a finalizer that is not there", () => {
  expect(removeFinalizerPatch(node, "new").metadata.finalizers).toEqual(["theirs", "ours"]);
  expect(removeFinalizerPatch({ metadata: {} }, "new")).toEqual({ metadata: { finalizers: [] } });
  expect(hasFinalizer(node, "ours")).toBe(true);
  expect(hasFinalizer({ metadata: {} }, "ours")).toBe(false);
});

test("fails with a conflict when another client changed the object, which is deleted with its last finalizer", async () => {
  const api = createFakeApi();
  const seen = api.seed(nodeResource, { metadata: { name: "a", finalizers: ["ours"] } });
  const ref = { name: "a" };
  api.change(nodeResource, ref, { metadata: { finalizers: ["ours", "theirs"] } });
  await expect(api.patch(nodeResource, ref, removeFinalizerPatch(seen, "ours"), { kind: "merge" })).rejects.toThrow(
    "modified",
  );
  await api.delete(nodeResource, ref);
  for (const finalizer of ["ours", "theirs"]) {
    const current = await api.get(nodeResource, ref);
    expect(isBeingDeleted(current)).toBe(true);
    await api.patch(nodeResource, ref, removeFinalizerPatch(current, finalizer), { kind: "merge" });
  }
  expect(api.all(nodeResource)).toEqual([]);
});
