import { defineFixture } from "@millwright/conformance";
import { systemClock } from "@millwright/base";
import { type ArmEmulator, createArmEmulator } from "@millwright/emulators/arm";
import { selfSignedCertificate } from "@millwright/emulators/server";
import { createAzureDriver, ownerTagKeys } from "@millwright/provider-azure";
import { armIdentity, armNodes, armSpec } from "../arm-cloud.ts";
import { closeEmulator } from "../close-emulator.ts";
import { azureMachineId } from "../cloud-controller-manager/azure.ts";
import { nodeForms } from "./node-forms.ts";

const imageOf = (name: string) => ({
  storageProfile: {
    imageReference: { id: `/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Compute/images/${name}` },
    osDisk: { createOption: "FromImage", diskSizeGB: 30 },
    dataDisks: [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" }],
  },
});

const classOf = (change: object = {}, more: object = {}) => ({
  name: "pool",
  providerSpec: { ...armSpec({ ...imageOf("node"), ...change }), ...more },
});

const secretOf = (clientSecret: string) => ({ ...armIdentity, clientSecret });
const firstSecret = "first-secret-0123456789";
const secondSecret = "second-secret-0123456789";

/** Codes of ARM by status. */
const codes: Readonly<Record<number, string>> = {
  400: "InvalidParameter",
  401: "InvalidAuthenticationToken",
  403: "AuthorizationFailed",
  429: "TooManyRequests",
  500: "InternalServerError",
  503: "ServiceUnavailable",
};

const errorAnswer = (status: number) => ({
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify({ error: { code: codes[status] ?? "InternalServerError", message: "staged" } }),
});

/** Requests to Resource Manager; those for tokens begin with the tenant. */
const isApiRequest = ({ path }: { readonly path: string }): boolean => /^\/(?:subscriptions|providers)\//i.test(path);

function stagesOf(arm: ArmEmulator) {
  const { world } = arm;
  type Vm = ReturnType<ArmEmulator["vm"]>;
  let example: Vm | undefined;
  const add = (name: string, tags: Vm["tags"]): string => {
    if (example === undefined) throw new Error("Azure has had no VM yet");
    const id = example.id.replace(/[^/]+$/, name);
    const vm = { ...example, id, name, tags, nics: [], disks: [], provisioningState: "Succeeded" as const };
    world.vms.set(id.toLowerCase(), vm);
    return id;
  };
  const removing = (...ids: readonly string[]) => ({
    end: () => {
      for (const id of ids) world.vms.delete(id.toLowerCase());
    },
  });
  return {
    /** Keeps the first VM as an example. */
    observe: () => {
      const [vm] = arm.inventory().vms;
      example ??= vm === undefined ? undefined : { ...vm };
    },
    async vmOfOtherOwner(name: string) {
      const id = add(name, {});
      return { providerId: `azure:///westeurope/${name}`, ...removing(id) };
    },
    async manyVms(count: number) {
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      const tagsOf = (name: string) => ({
        ...example?.tags,
        [ownerTagKeys.machine]: name,
        [ownerTagKeys.machineUid]: `uid-of-${name}`,
      });
      return removing(...names.map((name) => add(name, tagsOf(name))));
    },
    async slowDeletion() {
      const { deleteMs } = world.options;
      Object.assign(world.options, { deleteMs: 700 });
      return { end: () => void Object.assign(world.options, { deleteMs }) };
    },
    async attachedVolume(name: string) {
      const vm = arm.vm(name);
      const [like] = world.disks.values();
      if (like === undefined) throw new Error("Azure has no disk");
      const id = like.id.replace(/[^/]+$/, `pv-of-${name}`);
      const disk = { ...like, id, name: `pv-of-${name}`, tags: {}, managedBy: vm.id };
      world.disks.set(id.toLowerCase(), disk);
      vm.disks.push({ diskId: id, lun: 9, deleteOption: "Detach", toBeDetached: false });
      return { exists: () => world.disks.has(id.toLowerCase()), end: () => void world.disks.delete(id.toLowerCase()) };
    },
    expireTokens: () => world.tokens.clear(),
    async removeVmOnly(name: string) {
      const { id } = arm.vm(name);
      world.vms.delete(id.toLowerCase());
      for (const disk of world.disks.values()) if (disk.managedBy === id) delete disk.managedBy;
      for (const nic of world.nics.values()) if (nic.vmId === id) delete nic.vmId;
    },
    async quotaExhausted() {
      world.capacity.set("Standard_D2s_v5", 0);
      return { end: () => void world.capacity.delete("Standard_D2s_v5") };
    },
  };
}

/** An emulated Azure for the conformance suite. Its SDK requires TLS, also of the proxy. */
export const armFixture = defineFixture(async () => {
  const arm = createArmEmulator({
    vmMs: 20,
    deleteMs: 20,
    partMs: 5,
    applications: { client: { tenant: "tenant", secret: firstSecret } },
  });
  const { url } = await arm.listen();
  const proxyTls = selfSignedCertificate(systemClock.now());
  const createDriver = (endpoint = url) =>
    createAzureDriver({ endpoint, ca: endpoint === url ? arm.ca : proxyTls.cert, pollMs: 10 });
  const stage = stagesOf(arm);
  return {
    driver: createDriver(),
    machineClass: classOf(),
    secret: secretOf(firstSecret),
    createDriver: () => createDriver(),
    publicSecretKeys: ["clientID", "subscriptionID", "tenantID"],
    lacks: {
      duplicateVms: "names of VMs are unique in a resource group",
      terminationProtection: "locks protect resource groups; VMs have no protection of their own",
    },
    otherClass: classOf({ hardwareProfile: { vmSize: "Standard_D4s_v5" } }),
    otherClusterClass: classOf({}, { tags: { "kubernetes.io-cluster-other": "1", "kubernetes.io-role-node": "1" } }),
    missingReferences: {
      image: classOf(imageOf("missing")),
      subnet: classOf({}, { subnetInfo: { vnetName: "vnet", subnetName: "none" } }),
      "resource group": classOf({}, { resourceGroup: "none" }),
    },
    withTags: (tags) =>
      Object.keys(tags).some((key) => key.includes("/"))
        ? undefined
        : classOf({}, { tags: { ...Object(armSpec()["tags"]), ...tags } }),
    rejectedSecret: secretOf("wrong-secret-0123456789"),
    rotateSecret() {
      arm.world.applications?.set("client", { tenant: "tenant", secret: secondSecret });
      arm.world.tokens.clear();
      return secretOf(secondSecret);
    },
    endpoint: {
      url,
      ca: arm.ca,
      proxyTls,
      through: (endpoint) => ({ driver: createDriver(endpoint) }),
      isApiRequest,
      errorAnswer,
    },
    ownVolume: { spec: { csi: { driver: "disk.csi.azure.com", volumeHandle: "/disks/pv-1" } }, id: "/disks/pv-1" },
    inventory() {
      stage.observe();
      return arm.inventory().vms.map(({ id, name, tags, body }) => ({
        id,
        machineName: name,
        tags,
        userData: Buffer.from(body.properties.osProfile.customData ?? "", "base64"),
      }));
    },
    resources: () =>
      Object.values(arm.inventory())
        .flat()
        .map(({ id }) => id),
    nodesOf: (machine) => nodeForms(() => armNodes(arm).find(({ nodeName }) => nodeName === machine), azureMachineId),
    stage,
    releaseMemory: () => arm.log.clear(),
    close: () => closeEmulator(arm),
  };
});
