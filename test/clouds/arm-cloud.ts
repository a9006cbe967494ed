import { fileURLToPath } from "node:url";
import { type ArmEmulator, type ArmEmulatorOptions, createArmEmulator } from "@millwright/emulators/arm";
import { aContext, secretOf, withoutPending } from "@millwright/core/testing";
import { azureSpecSchema, createAzureDriver, ownerTagKeys } from "@millwright/provider-azure";
import { closeEmulator } from "./close-emulator.ts";
import { azureNode } from "./cloud-controller-manager/azure.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { type CloudInstallation, type NodeOptions, startCloudInstallation } from "./cloud-installation.ts";
import type { StartLoopCloud } from "./machine-loop-scenario.ts";
import { requestFor, userData } from "./vm-cloud.ts";

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

/** `providerSpec` of the class `pool`, with changes of its properties. */
export const armSpec = (change: object = {}): Readonly<Record<string, unknown>> => ({
  location: "westeurope",
  // In Azure names of resource groups are the same in any case, and cloud controller managers write them in lower case.
  resourceGroup: "Shoot",
  subnetInfo: { vnetName: "vnet", subnetName: "nodes" },
  tags: { "kubernetes.io-cluster-shoot": "1", "kubernetes.io-role-node": "1" },
  properties: { ...properties, ...change },
});

/** The driver's identity in the class secret. */
export const armIdentity = { clientID: "client", subscriptionID: "sub-1", tenantID: "tenant" };

const application = { tenant: "tenant", secret: "first-secret" };

/** The VMs of an emulated Azure that became nodes. */
export function armNodes(arm: ArmEmulator): readonly CloudInstance[] {
  const { vms, nics } = arm.inventory();
  return vms
    .filter(({ power }) => power !== undefined)
    .map(({ id, vmId, location, body, nics: attached, power }) =>
      azureNode({
        id,
        vmId,
        computerName: body.properties.osProfile.computerName,
        location,
        zones: body.zones ?? [],
        vmSize: body.properties.hardwareProfile.vmSize,
        privateIp: nics.find((nic) => nic.id === attached[0]?.nicId)?.address ?? "",
        isRunning: power === "running",
      }),
    );
}

/** An installation on an emulated Azure. */
export async function startOnArm(
  options: ArmEmulatorOptions = {},
  change: object = {},
  nodes: NodeOptions = {},
): Promise<{
  readonly arm: ArmEmulator;
  readonly url: string;
  readonly installation: CloudInstallation;
  /** The number of VMs ever observed. Azure keeps a VM by its name, so that a second PUT creates no second VM. */
  launches(): number;
  close(): Promise<void>;
}> {
  const arm = createArmEmulator({
    vmMs: 200,
    deleteMs: 200,
    partMs: 50,
    latencyMs: 10,
    applications: { client: application },
    ...options,
  });
  const { url } = await arm.listen();
  const made = new Set<string>();
  const look = (): void => {
    for (const { vmId } of arm.inventory().vms) made.add(vmId);
  };
  const installation = await startCloudInstallation({
    provider: "Azure",
    driver: fileURLToPath(new URL("azure-on-emulator.ts", import.meta.url)),
    providerSpec: armSpec(change),
    secret: { ...armIdentity, clientSecret: application.secret, userData },
    env: { ARM_EMULATOR_URL: url, ARM_EMULATOR_CA: arm.ca },
    instances() {
      look();
      return armNodes(arm);
    },
    nodes,
  });
  return {
    arm,
    url,
    installation,
    launches() {
      look();
      return made.size;
    },
    async close() {
      await installation.close();
      await closeEmulator(arm);
    },
  };
}

/** Tags that MCM's driver does not know. */
const marks: readonly string[] = Object.values(ownerTagKeys);

/** Azure for the machine loop. */
export const startArmLoop: StartLoopCloud = async ({ pace, market, nodes } = {}) => {
  const { arm, url, installation, launches, close } = await startOnArm(
    pace === "slow" ? { latencyMs: 40, vmMs: 1_000 } : {},
    market === "spot" ? { priority: "Spot" } : {},
    nodes,
  );
  const driver = withoutPending(createAzureDriver({ endpoint: url, ca: arm.ca, pollMs: 50 }));
  return {
    installation,
    close,
    faults: arm.faults,
    words: {
      create: "VirtualMachines_CreateOrUpdate",
      serverError: "InternalServerError",
      throttled: "TooManyRequests",
    },
    // And a network interface, the OS disk and two data disks.
    thingsPerVm: 5,
    newer: {
      providerSpec: armSpec({
        storageProfile: { ...properties.storageProfile, imageReference: { id: "/images/2" } },
      }),
      image: "/images/2",
    },
    vms: () =>
      arm.inventory().vms.map(({ vmId, name, body: { properties: made } }) => ({
        id: vmId,
        machine: name,
        image: made.storageProfile.imageReference?.id ?? "",
        userData: Buffer.from(made.osProfile.customData ?? "", "base64").toString(),
      })),
    launches,
    things: () => Object.values(arm.inventory()).flat(),
    async makeAsMcm(machine) {
      const secret = secretOf({ ...armIdentity, clientSecret: application.secret, userData });
      const spec = azureSpecSchema.parse(armSpec());
      const made = await driver.createMachine(requestFor(machine, spec, secret), aContext());
      for (const resource of Object.values(arm.inventory()).flat()) {
        if (!resource.name.startsWith(machine)) continue;
        const tags = Object.entries(resource.tags).filter(([key]) => !marks.includes(key));
        resource.tags = Object.fromEntries(tags);
      }
      return made;
    },
    foreignNode: {
      name: "other000003",
      providerId: `azure:///subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Compute/virtualMachineScaleSets/other/virtualMachines/3`,
    },
    changeCredentials() {
      arm.world.applications?.set("client", { ...application, secret: "second-secret" });
      arm.world.tokens.clear();
      return { ...armIdentity, clientSecret: "second-secret" };
    },
    reclaim: (machine) => arm.evict(machine),
  };
};
