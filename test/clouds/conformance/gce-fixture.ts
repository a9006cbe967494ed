import { defineFixture } from "@millwright/conformance";
import { createGceEmulator, type GceEmulator } from "@millwright/emulators/gce";
import { createGcpDriver, ownerLabelKeys } from "@millwright/provider-gcp";
import { closeEmulator } from "../close-emulator.ts";
import { gceMachineId } from "../cloud-controller-manager/gcp.ts";
import { aServiceAccount, gceNodes, gceSpec } from "../gce-cloud.ts";
import { nodeForms } from "./node-forms.ts";

/** Short waits: the emulator shows everything within milliseconds. */
const pollTimes = { visibleMs: 10_000, lookAgainMs: 100, pollMs: 10 };

const classOf = (change: object = {}) => ({ name: "pool", providerSpec: { ...gceSpec, ...change } });

const first = aServiceAccount("first");
const second = aServiceAccount("second");
const unknown = aServiceAccount("first");

/** Reasons of Compute Engine by status. */
const reasons: Readonly<Record<number, string>> = {
  400: "invalid",
  401: "authError",
  403: "forbidden",
  429: "rateLimitExceeded",
  500: "internalError",
  503: "backendError",
};

const errorAnswer = (code: number) => {
  const error = { domain: "global", reason: reasons[code] ?? "backendError", message: "staged" };
  return {
    headers: { "content-type": "application/json; charset=UTF-8" },
    body: JSON.stringify({ error: { code, message: "staged", errors: [error] } }),
  };
};

type GceInstance = ReturnType<GceEmulator["inventory"]>["instances"][number];

function stagesOf(gce: GceEmulator) {
  const { world } = gce;
  const keyOf = ({ project, zone, name }: Pick<GceInstance, "project" | "zone" | "name">) =>
    `${project}/${zone}/${name}`;
  let example: GceInstance | undefined;
  const add = (name: string, change: (resource: GceInstance["resource"]) => GceInstance["resource"]): string => {
    if (example === undefined) throw new Error("Compute Engine has had no instance yet");
    const { status: _, deletingSinceMs: __, ...like } = example;
    const added = { ...like, id: world.nextId(), name, resource: change({ ...like.resource, name }) };
    world.instances.set(keyOf(added), added);
    return keyOf(added);
  };
  const removing = (...keys: readonly string[]) => ({
    end: () => {
      for (const key of keys) world.instances.delete(key);
    },
  });
  return {
    /** Keeps the first instance as an example. */
    observe: () => {
      example ??= gce.inventory().instances[0];
    },
    async vmOfOtherOwner(name: string) {
      const key = add(name, (resource) => ({ ...resource, labels: {}, tags: { ...resource.tags, items: [] } }));
      return { providerId: `gce:///my-project/europe-west1-b/${name}`, ...removing(key) };
    },
    async manyVms(count: number) {
      const names = Array.from({ length: count }, (_, index) => `many-${index}`);
      const labelsOf = (name: string) => ({ [ownerLabelKeys.machineUid]: `uid-of-${name}` });
      return removing(
        ...names.map((name) =>
          add(name, (resource) => ({ ...resource, labels: { ...resource.labels, ...labelsOf(name) } })),
        ),
      );
    },
    async slowDeletion() {
      const { operationMs } = world.times();
      Object.assign(world.times(), { operationMs: 700 });
      return { end: () => void Object.assign(world.times(), { operationMs }) };
    },
    async quotaExhausted() {
      world.capacity.set("n2-standard-2", 0);
      return { end: () => void world.capacity.delete("n2-standard-2") };
    },
    async terminationProtection(name: string) {
      const set = (deletionProtection: boolean): void => {
        const vm = [...world.instances.values()].find((instance) => instance.name === name);
        if (vm !== undefined) vm.resource = { ...vm.resource, deletionProtection };
      };
      set(true);
      return { end: () => set(false) };
    },
    async attachedVolume(name: string) {
      const vm = gce.inventory().instances.find((instance) => instance.name === name);
      const disk = {
        id: world.nextId(),
        name: `pv-of-${name}`.slice(0, 63),
        project: vm?.project ?? "",
        zone: vm?.zone ?? "",
        type: "pd-balanced",
        sizeGb: 1,
        sourceImage: "",
        labels: {},
        boot: false,
        autoDelete: false,
        instanceId: undefined,
      };
      const key = keyOf(disk);
      world.disks.set(key, disk);
      gce.attachDisk(name, disk.name);
      return { exists: () => world.disks.has(key), end: () => void world.disks.delete(key) };
    },
    expireTokens: () => gce.world.accessTokens.clear(),
    removeVmOnly: async (name: string) => gce.remove(name, { keepDisks: true }),
  };
}

/** An emulated Compute Engine for the conformance suite. */
export const gceFixture = defineFixture(async () => {
  const gce = createGceEmulator({
    operationMs: 20,
    provisioningMs: 10,
    stagingMs: 10,
    stoppingMs: 10,
    serviceAccounts: { [first.email]: first.publicKey },
  });
  const { url } = await gce.listen();
  const createDriver = (endpoint = url) => createGcpDriver({ endpoint, pollTimes });
  const stage = stagesOf(gce);
  const [disk] = gceSpec.disks;
  const [card] = gceSpec.networkInterfaces;
  return {
    driver: createDriver(),
    machineClass: classOf(),
    secret: first.secret,
    createDriver: () => createDriver(),
    lacks: {
      duplicateVms: "names of instances are unique in a zone",
      terminatingState: "instances that are deleted or stopped are STOPPING",
      classTags: "labels of the class and of the driver have other keys",
    },
    otherClass: classOf({ machineType: "n2-standard-4" }),
    otherClusterClass: classOf({ tags: ["kubernetes-io-cluster-other", "kubernetes-io-role-node"] }),
    missingReferences: {
      image: classOf({ disks: [{ ...disk, image: "projects/images/global/images/none" }] }),
      network: classOf({ networkInterfaces: [{ network: "none" }] }),
      subnetwork: classOf({ networkInterfaces: [{ ...card, subnetwork: "none" }] }),
    },
    rejectedSecret: unknown.secret,
    rotateSecret() {
      gce.world.serviceAccounts?.clear();
      gce.world.serviceAccounts?.set(second.email, second.publicKey);
      gce.world.accessTokens.clear();
      return second.secret;
    },
    endpoint: { url, through: (endpoint) => ({ driver: createDriver(endpoint) }), errorAnswer },
    ownVolume: {
      spec: { csi: { driver: "pd.csi.storage.gke.io", volumeHandle: "projects/p/zones/z/disks/pv-1" } },
      id: "projects/p/zones/z/disks/pv-1",
    },
    maxUserDataBytes: 256 * 1_024,
    inventory() {
      stage.observe();
      return gce.inventory().instances.map(({ id, name, resource }) => ({
        id,
        machineName: name,
        // The name of the instance is that of its machine.
        tags: { ...resource.labels, name },
        userData: Buffer.from(resource.metadata.items?.find(({ key }) => key === "startup-script")?.value ?? ""),
      }));
    },
    resources: () =>
      Object.values(gce.inventory())
        .flat()
        .map(({ id }) => id),
    nodesOf: (machine) => nodeForms(() => gceNodes(gce).find(({ nodeName }) => nodeName === machine), gceMachineId),
    stage,
    releaseMemory: () => gce.log.clear(),
    // Names of machines that cannot be names of instances are sent, and rejected.
    close: () =>
      closeEmulator({
        ...gce,
        failures: gce.failures.filter((failure) => !String(failure).includes("must be a name of RFC 1035")),
      }),
  };
});
