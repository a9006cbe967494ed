import { describe, expect, it } from "vitest";
import { createStore } from "../cache/store.ts";
import { isConflict } from "../client/api-error.ts";
import type { ApiObject } from "../objects/kube-object.ts";
import { conflictError, notFoundError, notServedError, serverError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createWriter } from "./writer.ts";

interface Disk extends ApiObject {
  readonly spec?: { readonly size?: string; readonly class?: string };
  readonly status?: object;
}
const diskResource = { group: "example.com", version: "v1", kind: "Disk", plural: "disks", namespaced: true };
const ref = { namespace: "default", name: "disk" };
const aDisk = (finalizers: readonly string[] = ["example.com/protection"]): Disk => ({
  metadata: { ...ref, finalizers },
});

function setUp(seeded: Disk | "an empty cluster" = aDisk()) {
  const api = createFakeApi();
  const store = createStore<Disk>();
  const disk = seeded === "an empty cluster" ? undefined : api.seed(diskResource, seeded);
  if (disk !== undefined) store.applyEvent(disk);
  return { api, store, uid: disk?.metadata.uid ?? "", writer: createWriter({ api, type: diskResource, store }) };
}

describe("writer", () => {
  it("stores what it creates in the cache at once", async () => {
    const { store, writer } = setUp("an empty cluster");
    const created = await writer.create(aDisk());
    expect(store.getByRef(ref)).toEqual(created);
    expect(created.metadata.resourceVersion).toBeDefined();
  });

  it("stores what it patches in the cache at once, status and all the rest apart", async () => {
    const { api, store, writer } = setUp();
    await writer.patch(ref, { spec: { size: "1h" }, status: { lastKnownState: "not this way" } });
    await writer.patchStatus(ref, { lastKnownState: "saved" });
    expect(store.getByRef(ref)).toMatchObject({ spec: { size: "1h" }, status: { lastKnownState: "saved" } });
    expect(api.writes().map(({ subresource }) => subresource)).toEqual([undefined, "status"]);
  });

  it("treats a missing object as done, and removes it from the cache", async () => {
    for (const write of ["patch", "patchStatus"] as const) {
      const { api, store, writer } = setUp();
      api.remove(diskResource, ref);
      await writer[write](ref, {});
      expect(store.size).toBe(0);
    }
    const { api, store, uid, writer } = setUp();
    api.remove(diskResource, ref);
    await writer.delete(ref, uid);
    expect(store.size).toBe(0);
  });

  it.each(["it is missing", "of a conflict with it, and it is missing"])(
    "keeps another object of the name, which is created before the answer about the former one comes: %s",
    async (what) => {
      const { api, store } = setUp();
      const hasConflict = what.startsWith("of");
      const created = { metadata: { ...ref, uid: "new", resourceVersion: "1000" } };
      const answers = [...(hasConflict ? [conflictError()] : []), notFoundError()];
      const answer = (): Promise<never> => {
        if (answers.length === 1) store.applyWrite(created);
        return Promise.reject(answers.shift());
      };
      const late = createWriter({ api: { ...api, patch: answer, get: answer }, type: diskResource, store });
      const failure = await late.patch(ref, {}).catch((error: unknown) => error);
      expect(isConflict(failure)).toBe(hasConflict);
      expect(store.getByRef(ref)).toEqual(created);
    },
  );

  it("does not treat an object as deleted because its kind is not served at the moment", async () => {
    const { api, store, uid, writer } = setUp();
    const writes = [() => writer.patch(ref, {}), () => writer.patchStatus(ref, {}), () => writer.delete(ref, uid)];
    for (const write of writes) {
      api.inject({ error: notServedError() });
      await expect(write()).rejects.toThrow("404 page not found");
      expect(store.size).toBe(1);
    }
  });

  it("shows an object that finalizers hold as being deleted", async () => {
    const { store, uid, writer } = setUp();
    await writer.delete(ref, uid);
    expect(store.getByRef(ref)?.metadata.deletionTimestamp).toBeDefined();
  });

  it("removes an object without finalizers from the cache", async () => {
    const { store, uid, writer } = setUp(aDisk([]));
    await writer.delete(ref, uid);
    expect(store.size).toBe(0);
  });

  it("deletes only the very object, not another of its name", async () => {
    const { api, store, writer } = setUp();
    await expect(writer.delete(ref, "other")).rejects.toThrow("precondition");
    expect(api.peek(diskResource, ref)?.metadata.deletionTimestamp).toBeUndefined();
    expect(store.size).toBe(1);
  });

  it("does not replace a newer state in the cache", async () => {
    const { api, store, writer } = setUp();
    await writer.patch(ref, { spec: { size: "1h" } });
    const newer = api.change<Disk>(diskResource, ref, { spec: { size: "2h" } });
    store.applyEvent(newer);
    await writer.patch(ref, { metadata: { finalizers: ["other"] } });
    expect(store.getByRef(ref)?.spec?.size).toBe("2h");
  });

  // A watch may lag for minutes: each attempt until its event would be a conflict.
  it("reads an object after a conflict, or forgets one that is gone, and rethrows", async () => {
    const error = conflictError();
    const timeout = (): string | undefined => store.getByRef(ref)?.spec?.class;
    const { api, store, uid, writer } = setUp();
    for (const [index, write] of [
      () => writer.patch(ref, {}),
      () => writer.patchStatus(ref, {}),
      () => writer.delete(ref, uid),
    ].entries()) {
      api.change<Disk>(diskResource, ref, { spec: { class: `${index}m` } });
      api.inject({ error });
      await expect(write()).rejects.toBe(error);
      expect(timeout()).toBe(`${index}m`);
    }
    api.inject({ verb: "patch", error });
    api.inject({ verb: "get", error: serverError() });
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    expect(timeout()).toBe("2m");
    api.remove(diskResource, ref);
    api.inject({ verb: "patch", error });
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    expect(store.size).toBe(0);
  });

  it("rethrows a server error and keeps the cache", async () => {
    const error = serverError();
    const { api, store, uid, writer } = setUp();
    const cached = store.getByRef(ref);
    api.inject({ error, times: 4 });
    await expect(writer.create(aDisk())).rejects.toBe(error);
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    await expect(writer.patchStatus(ref, {})).rejects.toBe(error);
    await expect(writer.delete(ref, uid)).rejects.toBe(error);
    expect(store.getByRef(ref)).toBe(cached);
  });
});
