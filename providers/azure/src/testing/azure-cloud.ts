import { type CreateMachineRequest, type MachineIdentity, Secret, systemRandom } from "@millwright/core";
import { aMachine, secretOf, withoutPending } from "@millwright/core/testing";
import { type ArmEmulator, type ArmEmulatorOptions, createArmEmulator } from "@millwright/emulators/arm";
import { onTestFinished } from "vitest";
import { type AzureDriverOptions, createAzureDriver } from "../driver.ts";
import { type AzureSpec, azureSpecSchema } from "../spec/spec.ts";
import { roleOfReadme } from "./readme-role.ts";

export { aContext, aMachine, failureOf, secretOf } from "@millwright/core/testing";

/** `properties` with nothing but what is required. */
export const plainProperties = {
  hardwareProfile: { vmSize: "Standard_D2s_v5" },
  storageProfile: {
    imageReference: { id: "/subscriptions/sub-1/image" },
    osDisk: { createOption: "FromImage", diskSizeGB: 30 },
  },
  osProfile: {
    adminUsername: "core",
    linuxConfiguration: { ssh: { publicKeys: { keyData: "ssh-rsa AAAA" } } },
  },
  zone: 1,
} as const;

/** A `providerSpec` with nothing but what is required, and a key, which takes time to make. */
export const plainSpec = {
  location: "westeurope",
  resourceGroup: "shoot",
  subnetInfo: { vnetName: "vnet", subnetName: "nodes" },
  tags: { "kubernetes.io-cluster-shoot": "1", "kubernetes.io-role-node": "1" },
  properties: plainProperties,
} as const;

/** A class secret. */
export const plainSecret: Readonly<Record<string, string>> = {
  clientID: "client",
  clientSecret: "first-secret",
  subscriptionID: "sub-1",
  tenantID: "tenant",
  userData: "#!/bin/sh\necho hello",
};

/** A class secret without some of its keys. */
export const secretWithout = (...keys: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(plainSecret).filter(([key]) => !keys.includes(key)));

/** An inventory without anything. */
export const nothing = { vms: [], nics: [], disks: [] } as const;

/** What a test changes about a spec: fields of the spec, and of its properties. */
export interface SpecChange {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A request to make a machine; it also serves for every other method. */
export function aRequest(
  machine: MachineIdentity = aMachine("m"),
  { spec = {}, properties = {} }: SpecChange = {},
  secret: Readonly<Record<string, string>> = plainSecret,
): CreateMachineRequest<AzureSpec> {
  const whole = { ...plainSpec, properties: { ...plainProperties, ...properties }, ...spec };
  return {
    machine,
    machineClass: { name: "pool", spec: azureSpecSchema.parse(whole) },
    secret: secretOf(secret),
    idempotencyToken: `token-of-${machine.uid}`,
    userData: Secret.of("#!/bin/sh\necho hello"),
  };
}

/** An emulated Azure with the permissions of the README, and the driver against it over TLS. Both end with the test; what the emulator itself threw fails it. */
export async function aCloud(emulatorOptions: ArmEmulatorOptions = {}, driverOptions: AzureDriverOptions = {}) {
  const arm = createArmEmulator({ actions: roleOfReadme, ...emulatorOptions });
  const { url } = await arm.listen();
  onTestFinished(() => closeCloud(arm));
  const driver = withoutPending(
    createAzureDriver({
      endpoint: url,
      ca: arm.ca,
      random: { ...systemRandom, next: () => 0 },
      pollMs: 5,
      ...driverOptions,
    }),
  );
  return { arm, url, driver };
}

async function closeCloud(arm: ArmEmulator): Promise<void> {
  await arm.close();
  if (arm.failures.length > 0) throw new Error("the emulator failed", { cause: arm.failures[0] });
}

/** The body of the only request of an operation. */
export function sentBody(arm: ArmEmulator, operation: string): unknown {
  const request = arm.log.requests.find((entry) => entry.operation === operation);
  return JSON.parse(request?.body ?? "null");
}
