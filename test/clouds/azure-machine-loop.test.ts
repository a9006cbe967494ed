import { fileURLToPath } from "node:url";
import { type ArmEmulator, type ArmEmulatorOptions, createArmEmulator } from "@millwright/emulators/arm";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, startCloudInstallation } from "./cloud-installation.ts";

const properties = {
  hardwareProfile: { vmSize: "Standard_D2s_v5" },
  storageProfile: {
    imageReference: { id: "/images/1" },
    osDisk: { createOption: "FromImage", diskSizeGB: 30 },
    dataDisks: [
      { lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } },
      { lun: 1, diskSizeGB: 5, storageAccountType: "Premium_LRS" },
    ],
  },
  osProfile: { adminUsername: "core" },
  zone: 1,
};
const providerSpec = {
  location: "westeurope",
  resourceGroup: "shoot",
  subnetInfo: { vnetName: "vnet", subnetName: "nodes" },
  tags: { "kubernetes.io-cluster-shoot": "1", "kubernetes.io-role-node": "1" },
  properties,
};
const credentials = { clientID: "client", subscriptionID: "sub-1", tenantID: "tenant" };
const firstSecret = { ...credentials, clientSecret: "first-secret" };
const secondSecret = { ...credentials, clientSecret: "second-secret" };
const application = { tenant: "tenant", secret: "first-secret" };
const userData = "boot <<MACHINE_NAME>>";
const nothing = { vms: [], nics: [], disks: [] };

describe("millwright run on Azure", () => {
  let arm: ArmEmulator;
  let installation: CloudInstallation;

  const start = async (options: ArmEmulatorOptions = {}): Promise<void> => {
    arm = createArmEmulator({
      vmMs: 200,
      deleteMs: 200,
      partMs: 50,
      latencyMs: 10,
      applications: { client: application },
      ...options,
    });
    const { url } = await arm.listen();
    installation = await startCloudInstallation({
      provider: "Azure",
      driver: fileURLToPath(new URL("azure-on-emulator.ts", import.meta.url)),
      providerSpec,
      secret: { ...firstSecret, userData },
      env: { ARM_EMULATOR_URL: url, ARM_EMULATOR_CA: arm.ca },
      vms: () =>
        arm
          .inventory()
          .vms.filter(({ power }) => power === "running")
          .map(({ name }) => ({ nodeName: name, providerId: `azure:///westeurope/${name}` })),
    });
  };
  afterEach(async () => {
    await installation.close();
    await arm.close();
    if (arm.failures.length > 0) throw new Error("the emulator failed", { cause: arm.failures[0] });
  });

  /** Machines without a VM. */
  const missingVms = async (): Promise<readonly string[]> => {
    const names = new Set(arm.inventory().vms.map(({ name }) => name));
    return (await installation.machines()).map(({ metadata }) => metadata.name).filter((name) => !names.has(name));
  };

  it("makes 20 machines, rolls them, scales down, deletes them, and leaves nothing behind", async () => {
    await start();
    installation.run();
    await installation.deploy(20);
    await installation.untilRunning(20);
    expect(await missingVms()).toEqual([]);
    const { vms, nics, disks } = arm.inventory();
    expect([vms.length, nics.length, disks.length]).toEqual([20, 20, 60]);
    const booted = vms.map(({ name, body }) => [
      name,
      Buffer.from(body.properties.osProfile.customData ?? "", "base64").toString(),
    ]);
    expect(booted.every(([name, text]) => text === `boot ${name}`)).toBe(true);

    const { storageProfile } = properties;
    const newer = { ...storageProfile, imageReference: { id: "/images/2" } };
    await installation.declareClass("newer", {
      ...providerSpec,
      properties: { ...properties, storageProfile: newer },
    });
    await installation.change({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
      minReadySeconds: 0,
      template: { spec: { class: { kind: "MachineClass", name: "newer" } } },
    });
    await eventually(async () => {
      const images = arm.inventory().vms.map(({ body }) => body.properties.storageProfile.imageReference?.id);
      expect(images).toEqual(Array.from({ length: 20 }, () => "/images/2"));
    }, 90_000);
    await installation.untilRunning(20);

    await installation.change({ replicas: 5 });
    await installation.untilRunning(5);
    await eventually(async () => expect(arm.inventory().vms).toHaveLength(5));
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(arm.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine although any call may fail, before or after it had its effect", async () => {
    await start();
    for (const afterAcceptance of [false, true]) {
      for (const end of [
        { kind: "reset" },
        { kind: "refuse", refusal: { code: "InternalServerError" } },
        { kind: "refuse", refusal: { code: "TooManyRequests" } },
        { kind: "reply", reply: { status: 502, body: "<html>" } },
      ] as const) {
        arm.faults.add({ operation: "*", probability: 0.03, times: 15, end, afterAcceptance });
      }
    }
    installation.run();
    await installation.deploy(10);
    await installation.untilRunning(10, 120_000);
    expect(await missingVms()).toEqual([]);
    expect(arm.faults.strikes).toBeGreaterThan(5);
    arm.faults.clear();
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(arm.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine when it is killed while it makes them, again and again", async () => {
    await start({ latencyMs: 40, vmMs: 1_000 });
    let current = installation.run();
    await installation.deploy(10);
    for (const made of [1, 4, 8]) {
      await eventually(async () => expect(arm.inventory().vms.length).toBeGreaterThanOrEqual(made), 60_000);
      await current.stop("SIGKILL");
      current = installation.run();
    }
    await installation.untilRunning(10);
    expect(await missingVms()).toEqual([]);
    const { vms, nics, disks } = arm.inventory();
    expect([vms.length, nics.length, disks.length]).toEqual([10, 10, 30]);
  });

  it("goes on with a new secret when the old one ends while it makes machines", async () => {
    await start({ latencyMs: 40 });
    installation.run();
    await installation.deploy(30);
    await eventually(async () => expect(arm.inventory().vms.length).toBeGreaterThan(3), 60_000);
    arm.world.applications?.set("client", { ...application, secret: "second-secret" });
    arm.world.tokens.clear();
    await eventually(async () => {
      const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
      expect(codes).toContain("Unauthenticated");
    });
    await installation.setSecret(secondSecret);
    await installation.untilRunning(30);
    expect(await missingVms()).toEqual([]);
    expect(arm.inventory().vms).toHaveLength(30);
  });

  it("leaves nothing of machines for which there is no capacity, and makes them when there is", async () => {
    await start();
    arm.world.capacity.set("Standard_D2s_v5/1", 2);
    const current = installation.run();
    await installation.deploy(4);
    await eventually(async () => {
      const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
      expect(codes.filter((code) => code === "ResourceExhausted")).toHaveLength(2);
      const { vms, nics, disks } = arm.inventory();
      expect([vms.length, nics.length, disks.length]).toEqual([2, 2, 6]);
    }, 60_000);
    await current.stop("SIGKILL");
  });
});
