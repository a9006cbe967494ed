import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { addFinalizerPatch, removeFinalizerPatch } from "./finalizer-patch.ts";

const object = { metadata: { name: "a", resourceVersion: "7", finalizers: ["theirs", "ours", "others"] } };

describe("finalizer patches", () => {
  it("add to the finalizers that are there", () => {
    expect(applyMergePatch(object, addFinalizerPatch(object, "new"))).toEqual({
      metadata: { ...object.metadata, finalizers: ["theirs", "ours", "others", "new"] },
    });
  });

  it("remove only their own", () => {
    expect(applyMergePatch(object, removeFinalizerPatch(object, "ours"))).toEqual({
      metadata: { ...object.metadata, finalizers: ["theirs", "others"] },
    });
  });

  it("hold only for the version that they were computed from, so that no finalizer is lost in a race", () => {
    expect(addFinalizerPatch(object, "new")).toMatchObject({ metadata: { resourceVersion: "7" } });
    expect(removeFinalizerPatch(object, "ours")).toMatchObject({ metadata: { resourceVersion: "7" } });
  });

  it("start a list where there is none", () => {
    expect(addFinalizerPatch({ metadata: {} }, "new")).toEqual({ metadata: { finalizers: ["new"] } });
    expect(removeFinalizerPatch({ metadata: {} }, "ours")).toEqual({ metadata: { finalizers: [] } });
  });
});
