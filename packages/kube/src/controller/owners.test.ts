import { describe, expect, it } from "vitest";
import { serverError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { confirmOwner, confirmOwnerOnce } from "./owners.ts";

const setResource = {
  group: "example.com",
  version: "v1",
  kind: "MachineSet",
  plural: "machinesets",
  namespaced: true,
};
const ref = { namespace: "default", name: "set" };
const aSet = { metadata: { ...ref, uid: "uid-set" } };

describe("confirmOwner", () => {
  it("is content with an owner that is still there", async () => {
    const api = createFakeApi();
    const owner = api.seed(setResource, aSet);
    await expect(confirmOwner(api, setResource, owner)).resolves.toBeUndefined();
  });

  it.each<[string, (api: ReturnType<typeof createFakeApi>) => void, string]>([
    [
      "is being deleted",
      (api) => void api.change(setResource, ref, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "MachineSet set is being deleted; it adopts nothing",
    ],
    [
      "was replaced by another of its name",
      (api) => void api.change(setResource, ref, { metadata: { uid: "other" } }),
      "MachineSet set was replaced by another one; it adopts nothing",
    ],
    ["is gone", (api) => api.remove(setResource, ref), "not found"],
  ])("rejects an owner that %s, whatever is in the cache", async (_, happen, message) => {
    const api = createFakeApi();
    const owner = api.seed(setResource, aSet);
    happen(api);
    await expect(confirmOwner(api, setResource, owner)).rejects.toThrow(message);
  });
});

describe("confirmOwnerOnce", () => {
  it("asks not before it is needed, and once for many adoptions", async () => {
    const api = createFakeApi();
    const confirm = confirmOwnerOnce(api, setResource, api.seed(setResource, aSet));
    expect(api.calls).toEqual([]);
    await Promise.all([confirm(), confirm()]);
    await confirm();
    expect(api.calls).toHaveLength(1);
  });

  it("refuses all adoptions of a reconcile when it could not ask", async () => {
    const api = createFakeApi();
    const confirm = confirmOwnerOnce(api, setResource, api.seed(setResource, aSet));
    api.inject({ verb: "get", error: serverError() });
    await expect(confirm()).rejects.toThrow("timed out");
    await expect(confirm()).rejects.toThrow("timed out");
    expect(api.calls).toHaveLength(1);
  });
});
