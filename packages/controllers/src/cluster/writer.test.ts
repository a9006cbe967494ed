import { finalizers, type Machine, machineResource } from "@millwright/core";
import { createStore } from "@millwright/kube";
import { conflictError, createFakeApi, notServedError, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { aMachine, testNamespace } from "../testing/builders.ts";
import { createWriter } from "./writer.ts";

const ref = { namespace: testNamespace, name: "machine" };

function setUp(seeded: Machine | "an empty cluster" = aMachine()) {
  const api = createFakeApi();
  const store = createStore<Machine>();
  const machine = seeded === "an empty cluster" ? undefined : api.seed(machineResource, seeded);
  if (machine !== undefined) store.applyEvent(machine);
  return { api, store, uid: machine?.metadata.uid ?? "", writer: createWriter({ api, type: machineResource, store }) };
}

describe("writer", () => {
  it("stores what it creates in the cache at once", async () => {
    const { store, writer } = setUp("an empty cluster");
    const created = await writer.create(aMachine());
    expect(store.getByRef(ref)).toEqual(created);
    expect(created.metadata.resourceVersion).toBeDefined();
  });

  it("stores what it patches in the cache at once, status and all the rest apart", async () => {
    const { api, store, writer } = setUp();
    await writer.patch(ref, { spec: { drainTimeout: "1h" }, status: { lastKnownState: "not this way" } });
    await writer.patchStatus(ref, { lastKnownState: "saved" });
    expect(store.getByRef(ref)).toMatchObject({ spec: { drainTimeout: "1h" }, status: { lastKnownState: "saved" } });
    expect(api.writes().map(({ subresource }) => subresource)).toEqual([undefined, "status"]);
  });

  it("treats a missing object as done, and removes it from the cache", async () => {
    for (const write of ["patch", "patchStatus"] as const) {
      const { api, store, writer } = setUp();
      api.remove(machineResource, ref);
      await writer[write](ref, {});
      expect(store.size).toBe(0);
    }
    const { api, store, uid, writer } = setUp();
    api.remove(machineResource, ref);
    await writer.delete(ref, uid);
    expect(store.size).toBe(0);
  });

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
    const { store, uid, writer } = setUp(aMachine({ metadata: { finalizers: [] } }));
    await writer.delete(ref, uid);
    expect(store.size).toBe(0);
  });

  it("deletes only the very object, not another of its name", async () => {
    const { api, store, writer } = setUp();
    await expect(writer.delete(ref, "other")).rejects.toThrow("precondition");
    expect(api.peek(machineResource, ref)?.metadata.deletionTimestamp).toBeUndefined();
    expect(store.size).toBe(1);
  });

  it("does not replace a newer state in the cache", async () => {
    const { api, store, writer } = setUp();
    await writer.patch(ref, { spec: { drainTimeout: "1h" } });
    const newer = api.change<Machine>(machineResource, ref, { spec: { drainTimeout: "2h" } });
    store.applyEvent(newer);
    await writer.patch(ref, { metadata: { finalizers: [finalizers.machine] } });
    expect(store.getByRef(ref)?.spec.drainTimeout).toBe("2h");
  });

  // A watch may lag for minutes: each attempt until its event would be a conflict.
  it("reads an object after a conflict, or forgets one that is gone, and rethrows", async () => {
    const error = conflictError();
    const timeout = (): string | undefined => store.getByRef(ref)?.spec.healthTimeout;
    const { api, store, uid, writer } = setUp();
    for (const [index, write] of [
      () => writer.patch(ref, {}),
      () => writer.patchStatus(ref, {}),
      () => writer.delete(ref, uid),
    ].entries()) {
      api.change<Machine>(machineResource, ref, { spec: { healthTimeout: `${index}m` } });
      api.inject({ error });
      await expect(write()).rejects.toBe(error);
      expect(timeout()).toBe(`${index}m`);
    }
    api.inject({ verb: "patch", error });
    api.inject({ verb: "get", error: serverError() });
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    expect(timeout()).toBe("2m");
    api.remove(machineResource, ref);
    api.inject({ verb: "patch", error });
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    expect(store.size).toBe(0);
  });

  it("rethrows a server error and keeps the cache", async () => {
    const error = serverError();
    const { api, store, uid, writer } = setUp();
    const cached = store.getByRef(ref);
    api.inject({ error, times: 4 });
    await expect(writer.create(aMachine())).rejects.toBe(error);
    await expect(writer.patch(ref, {})).rejects.toBe(error);
    await expect(writer.patchStatus(ref, {})).rejects.toBe(error);
    await expect(writer.delete(ref, uid)).rejects.toBe(error);
    expect(store.getByRef(ref)).toBe(cached);
  });
});
