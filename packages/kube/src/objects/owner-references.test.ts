import { expect, test } from "vitest";
import { podResource } from "./built-in-resources.ts";
import type { ApiObject, ObjectMeta } from "./kube-object.ts";
import {
  adoptPatch,
  claimObjects,
  controllerRefOf,
  isControlledBy,
  newControllerRef,
  releasePatch,
} from "./owner-references.ts";

const owner: ApiObject = { metadata: { name: "set", uid: "owner-uid" } };
const ref = newControllerRef({ ...podResource, kind: "MachineSet", group: "machine.sapcloud.io" }, owner);
const other = { ...ref, uid: "other-uid" };
const plain = { apiVersion: "v1", kind: "Note", name: "n", uid: "note-uid" };
const object = (name: string, metadata: ObjectMeta = {}): ApiObject => ({
  metadata: { name, uid: name, resourceVersion: "7", ...metadata },
});
const deletionTimestamp = "2026-01-01T00:00:00Z";

test("names the owner by kind, version and uid", () => {
  expect(ref).toEqual({
    apiVersion: "machine.sapcloud.io/v1",
    kind: "MachineSet",
    name: "set",
    uid: "owner-uid",
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(() => newControllerRef(podResource, { metadata: { name: "new" } })).toThrow(/metadata.uid/);
});

test("knows the manager by its uid, not its name", () => {
  expect(controllerRefOf(object("a", { ownerReferences: [plain, ref] }))).toBe(ref);
  expect(isControlledBy(object("a", { ownerReferences: [plain, ref] }), owner)).toBe(true);
  expect(isControlledBy(object("a", { ownerReferences: [other] }), owner)).toBe(false);
  expect(isControlledBy(object("a"), { metadata: { name: "set" } })).toBe(false);
});

const candidates = [
  object("own", { ownerReferences: [ref] }),
  object("own-unwanted", { ownerReferences: [ref] }),
  object("own-unwanted-deleted", { ownerReferences: [ref], deletionTimestamp }),
  object("orphan"),
  object("orphan-unwanted"),
  object("orphan-deleted", { deletionTimestamp }),
  object("foreign", { ownerReferences: [other] }),
];
const wanted = (candidate: ApiObject) => !(candidate.metadata.name ?? "").includes("unwanted");
const names = (objects: readonly ApiObject[]) => objects.map((each) => each.metadata.name);

test("keeps its own, adopts matching orphans, releases what no longer matches, and leaves the rest alone", () => {
  const claims = claimObjects(owner, candidates, wanted);
  expect(names(claims.owned)).toEqual(["own"]);
  expect(names(claims.adopt)).toEqual(["orphan"]);
  expect(names(claims.release)).toEqual(["own-unwanted"]);
});

test("adopts and releases nothing for an owner that is being deleted", () => {
  const leaving = { metadata: { ...owner.metadata, deletionTimestamp } };
  const claims = claimObjects(leaving, candidates, wanted);
  expect(names(claims.owned)).toEqual(["own"]);
  expect([...claims.adopt, ...claims.release]).toEqual([]);
});

test("changes owners only in the state that it saw, and keeps the other owners", () => {
  const before = object("a", { ownerReferences: [plain] });
  expect(adoptPatch(before, ref)).toEqual({
    metadata: { uid: "a", resourceVersion: "7", ownerReferences: [plain, ref] },
  });
  const after = object("a", { ownerReferences: [plain, ref] });
  expect(releasePatch(after, "owner-uid")).toEqual({
    metadata: { uid: "a", resourceVersion: "7", ownerReferences: [plain] },
  });
  expect(adoptPatch(after, ref).metadata.ownerReferences).toEqual([plain, ref]);
});
