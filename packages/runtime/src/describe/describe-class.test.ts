import { isConfigError } from "@millwright/base";
import { annotationKeys, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { describeClass } from "./describe-class.ts";

const namespace = "default";
const since = "2026-01-01T00:00:00Z";

it("reports the VMs without machine that are recorded on a class", async () => {
  const api = createFakeApi();
  const vms = {
    "vm-2": { machine: "b", parts: ["NIC b-nic"], since, deleteAfter: "2026-01-01T00:15:00Z" },
    "vm-3": { machine: "c", since, draining: "2026-01-01T00:15:00Z", deleted: "2026-01-01T00:20:00Z" },
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
    secrets: [],
    phases: {},
    isHeldBack: false,
    failures: [],
    orphans: [
      { providerId: "vm-1", machine: "a", parts: [], since, deleteAfter: "" },
      { providerId: "vm-2", machine: "b", parts: ["NIC b-nic"], since, deleteAfter: "2026-01-01T00:15:00Z" },
      {
        providerId: "vm-3",
        machine: "c",
        parts: [],
        since,
        deleteAfter: "",
        draining: "2026-01-01T00:15:00Z",
        deleted: "2026-01-01T00:20:00Z",
      },
    ],
    notes: [expect.stringContaining("machine.millwright.dev/orphan-vm, which is unknown")],
  });
});

it("reports the status of a class, and the keys that its driver ignores", async () => {
  const api = createFakeApi();
  const annotations = {
    [annotationKeys.classStatus]: "ResourceExhausted",
    [annotationKeys.classStatusSince]: since,
    [annotationKeys.classStatusMessage]: "no quota",
    [annotationKeys.unknownKeys]: "providerSpec.spotPrce",
  };
  api.seed(machineClassResource, { metadata: { name: "small", namespace, annotations }, providerSpec: {} });
  expect(await describeClass({ control: api, namespace, name: "small" })).toMatchObject({
    status: { reason: "ResourceExhausted", since, message: "no quota" },
    notes: ['MachineClass "small": its driver ignores keys that it does not know: providerSpec.spotPrce'],
  });
});

it("names a class that does not exist", async () => {
  const reading = describeClass({ control: createFakeApi(), namespace, name: "none" });
  await expect(reading).rejects.toSatisfy(isConfigError);
});

const held = 'Waiting: Secret "cloud" of driver "mock" is refused since 2026-01-01T00:00:00Z: no';

function aCluster(): FakeApi {
  const api = createFakeApi();
  api.seed(machineClassResource, {
    metadata: { name: "small", namespace },
    provider: "mock",
    providerSpec: {},
    secretRef: { name: "user-data", namespace },
    credentialsSecretRef: { name: "cloud", namespace },
  } as never);
  const seedMachine = (name: string, className: string, errorCode?: string, description = ""): void =>
    void api.seed(machineResource, {
      metadata: { name, namespace },
      spec: { class: { kind: "MachineClass", name: className } },
      status: {
        currentStatus: { phase: errorCode === undefined ? "Running" : "CrashLoopBackOff" },
        lastOperation: { state: errorCode === undefined ? "Successful" : "Failed", errorCode, description },
      },
    } as never);
  seedMachine("a", "small");
  seedMachine("b", "small", "Unauthenticated", "no");
  seedMachine("c", "small", "Unauthenticated", `Cloud provider message - ${held}`);
  seedMachine("d", "small", "NotFound", "no image");
  seedMachine("e", "large", "NotFound", "no image");
  return api;
}

it("reports driver, Secrets, machines by phase and failures of a class, and writes nothing", async () => {
  const api = aCluster();
  expect(await describeClass({ control: api, namespace, name: "small" })).toEqual({
    name: "small",
    namespace,
    provider: "mock",
    secrets: ["cloud", "user-data"],
    phases: { CrashLoopBackOff: 3, Running: 1 },
    isHeldBack: true,
    failures: [
      { code: "Unauthenticated", machines: 2, example: "c", message: `Cloud provider message - ${held}` },
      { code: "NotFound", machines: 1, example: "d", message: "no image" },
    ],
    orphans: [],
    notes: [],
  });
  expect(api.writes()).toEqual([]);
});
