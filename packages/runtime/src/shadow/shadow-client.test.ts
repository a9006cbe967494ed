import { machineResource, machineSetResource } from "@millwright/core/machine-api";
import { podResource } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { describeWrite, type IntendedAction } from "./intended-action.ts";
import { createShadowClient } from "./shadow-client.ts";

const namespace = "default";
const ref = { namespace, name: "a" };
const machine = { metadata: { ...ref }, spec: {} };

describe("the client of a shadow", () => {
  it("sends no write, and reports what each would have done", async () => {
    const api = createFakeApi();
    await api.create(machineResource, machine);
    const intended: (IntendedAction | undefined)[] = [];
    const client = createShadowClient(api, (write) => intended.push(describeWrite(write)));
    const before = await api.get(machineResource, ref);

    const controller = { apiVersion: "v1", kind: "MachineSet", name: "set", uid: "1", controller: true };
    await client.create(machineResource, { metadata: { namespace, name: "b", ownerReferences: [controller] } });
    await client.patch(machineSetResource, { namespace, name: "set" }, { spec: { replicas: 3 } }, { kind: "merge" });
    const finalizers = { metadata: { uid: "1", resourceVersion: "7", finalizers: ["x"] } };
    await client.patch(machineResource, ref, finalizers, { kind: "merge" });
    const status = [
      { op: "test", path: "/metadata/uid", value: "1" },
      { op: "replace", path: "/status/currentStatus/phase", value: "Running" },
    ];
    await client.patch(machineResource, ref, status, { kind: "json", subresource: "status" });
    await client.replace(machineResource, machine);
    await client.delete(machineResource, ref);
    await client.create(podResource, { metadata: ref }, { subresource: "eviction" });

    expect(await api.get(machineResource, ref)).toEqual(before);
    expect((await api.list(machineResource)).items).toHaveLength(1);
    expect(intended.map((each) => each && [each.action, each.subject.kind, each.subject.name, each.detail])).toEqual([
      ["Create", "MachineSet", "set", ""],
      ["ChangeSpec", "MachineSet", "set", '{"replicas":3}'],
      ["ChangeMetadata", "Machine", "a", "/metadata/finalizers"],
      ["ChangeStatus", "Machine", "a", "/status/currentStatus"],
      ["ChangeSpec", "Machine", "a", "{}"],
      ["Delete", "Machine", "a", ""],
      ["Evict", "Pod", "a", ""],
    ]);
  });

  it("reports no events", () => {
    const type = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true };
    expect(describeWrite({ verb: "create", type, ref, body: {} })).toBeUndefined();
  });

  it("rejects requests that are no reads", async () => {
    const client = createShadowClient(createFakeApi(), () => undefined);
    await expect(client.request({ method: "POST", path: "/x" })).rejects.toThrow("POST /x is not sent");
  });
});
