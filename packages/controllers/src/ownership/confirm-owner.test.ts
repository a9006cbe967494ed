import { machineSetResource } from "@millwright/core";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { aMachineSet, testNamespace } from "../testing/builders.ts";
import { confirmOwner, confirmOwnerOnce } from "./confirm-owner.ts";

const ref = { namespace: testNamespace, name: "set" };

describe("confirmOwner", () => {
  it("is content with an owner that is still there", async () => {
    const api = createFakeApi();
    const owner = api.seed(machineSetResource, aMachineSet());
    await expect(confirmOwner(api, machineSetResource, owner)).resolves.toBeUndefined();
  });

  it.each<[string, (api: ReturnType<typeof createFakeApi>) => void, string]>([
    [
      "is being deleted",
      (api) => void api.change(machineSetResource, ref, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "MachineSet set is being deleted; it adopts nothing",
    ],
    [
      "was replaced by another of its name",
      (api) => void api.change(machineSetResource, ref, { metadata: { uid: "other" } }),
      "MachineSet set was replaced by another one; it adopts nothing",
    ],
    ["is gone", (api) => api.remove(machineSetResource, ref), "not found"],
  ])("rejects an owner that %s, whatever is in the cache", async (_, happen, message) => {
    const api = createFakeApi();
    const owner = api.seed(machineSetResource, aMachineSet());
    happen(api);
    await expect(confirmOwner(api, machineSetResource, owner)).rejects.toThrow(message);
  });
});

describe("confirmOwnerOnce", () => {
  it("asks not before it is needed, and once for many adoptions", async () => {
    const api = createFakeApi();
    const confirm = confirmOwnerOnce(api, machineSetResource, api.seed(machineSetResource, aMachineSet()));
    expect(api.calls).toEqual([]);
    await Promise.all([confirm(), confirm()]);
    await confirm();
    expect(api.calls).toHaveLength(1);
  });

  it("refuses all adoptions of a pass when it could not ask", async () => {
    const api = createFakeApi();
    const confirm = confirmOwnerOnce(api, machineSetResource, api.seed(machineSetResource, aMachineSet()));
    api.inject({ verb: "get", error: serverError() });
    await expect(confirm()).rejects.toThrow("timed out");
    await expect(confirm()).rejects.toThrow("timed out");
    expect(api.calls).toHaveLength(1);
  });
});
