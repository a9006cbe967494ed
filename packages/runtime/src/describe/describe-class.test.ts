import { annotationKeys, isConfigError, machineClassResource } from "@millwright/core";
import { createFakeApi } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { describeClass } from "./describe-class.ts";

const namespace = "default";
const since = "2026-01-01T00:00:00Z";

it("reports the VMs without machine that are recorded on a class", async () => {
  const api = createFakeApi();
  const vms = {
    "vm-2": { machine: "b", parts: ["NIC b-nic"], since, deleteAfter: "2026-01-01T00:15:00Z" },
    "vm-1": { machine: "a", since },
  };
  const annotations = {
    [annotationKeys.orphanVms]: JSON.stringify({ machines: 3, vms }),
    "machine.millwright.dev/orphan-vm": "x",
  };
  api.seed(machineClassResource, {
    metadata: { name: "small", namespace, annotations },
    provider: "mock",
    providerSpec: {},
  });
  expect(await describeClass({ control: api, namespace, name: "small" })).toEqual({
    name: "small",
    namespace,
    provider: "mock",
    orphans: [
      { providerId: "vm-1", machine: "a", parts: [], since, deleteAfter: "" },
      { providerId: "vm-2", machine: "b", parts: ["NIC b-nic"], since, deleteAfter: "2026-01-01T00:15:00Z" },
    ],
    notes: [expect.stringContaining("machine.millwright.dev/orphan-vm, which is unknown")],
  });
});

it("names a class that does not exist", async () => {
  const reading = describeClass({ control: createFakeApi(), namespace, name: "none" });
  await expect(reading).rejects.toSatisfy(isConfigError);
});
