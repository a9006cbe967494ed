import { type GceAction, type GceCall, knownParameters } from "./call.ts";
import { labeledFields, readFilter } from "./filter.ts";
import type { Instance } from "./instance.ts";
import { removeInstance } from "./insert-instance.ts";
import type { InstanceResource } from "./instance-resource.ts";
import { zoneUrl } from "./operation.ts";
import { pageOf } from "./pages.ts";
import { GceRefusal, jsonReply, notFound } from "./refusal.ts";
import { replayed, startOperation } from "./start-operation.ts";
import type { GceWorld } from "./world.ts";

const isSpot = ({ preemptible, provisioningModel }: InstanceResource["scheduling"]): boolean =>
  preemptible === true || provisioningModel === "SPOT";

/** The response for an instance. 64-bit numbers are texts. */
function instanceJson(
  world: GceWorld,
  instance: Instance,
): { readonly id: string } & Readonly<Record<string, unknown>> {
  const { id, name, project, zone, resource, creationTimestamp, networkIp, externalIps } = instance;
  const at = zoneUrl(project, zone);
  const absolute = (path: string): string => `https://www.googleapis.com/compute/v1/${path}`;
  const disks = [...world.disks.values()].filter((disk) => disk.instanceId === id);
  let external = 0;
  return {
    kind: "compute#instance",
    id,
    name,
    status: world.status(instance),
    zone: at,
    creationTimestamp,
    canIpForward: resource.canIpForward,
    deletionProtection: resource.deletionProtection,
    ...(resource.description === undefined ? {} : { description: resource.description }),
    machineType: `${at}/machineTypes/${resource.machineType.slice(resource.machineType.lastIndexOf("/") + 1)}`,
    ...(resource.minCpuPlatform === undefined ? {} : { minCpuPlatform: resource.minCpuPlatform }),
    labels: resource.labels,
    labelFingerprint: "bGFiZWxz",
    fingerprint: "ZmluZ2VycHJpbnQ=",
    tags: { items: resource.tags.items, fingerprint: "dGFncw==" },
    metadata: { kind: "compute#metadata", fingerprint: "bWV0YWRhdGE=", items: resource.metadata.items },
    scheduling: {
      ...resource.scheduling,
      preemptible: isSpot(resource.scheduling),
      provisioningModel: isSpot(resource.scheduling) ? "SPOT" : "STANDARD",
      ...(resource.scheduling.maxRunDuration === undefined
        ? {}
        : { maxRunDuration: { seconds: String(resource.scheduling.maxRunDuration.seconds ?? 0) } }),
    },
    serviceAccounts: resource.serviceAccounts,
    ...(resource.shieldedInstanceConfig === undefined
      ? {}
      : { shieldedInstanceConfig: resource.shieldedInstanceConfig }),
    ...(resource.advancedMachineFeatures === undefined
      ? {}
      : { advancedMachineFeatures: resource.advancedMachineFeatures }),
    guestAccelerators: resource.guestAccelerators.map(({ acceleratorType, acceleratorCount }) => ({
      acceleratorType: `${at}/acceleratorTypes/${acceleratorType.slice(acceleratorType.lastIndexOf("/") + 1)}`,
      acceleratorCount,
    })),
    disks: disks.map((disk, index) => ({
      kind: "compute#attachedDisk",
      index,
      boot: disk.boot,
      autoDelete: disk.autoDelete,
      diskSizeGb: String(disk.sizeGb),
      type: "PERSISTENT",
      source: `${at}/disks/${disk.name}`,
    })),
    networkInterfaces: resource.networkInterfaces.map((card, index) => ({
      kind: "compute#networkInterface",
      name: `nic${index}`,
      networkIP: networkIp,
      network: absolute(card.network ?? `projects/${project}/global/networks/default`),
      ...(card.subnetwork === undefined
        ? {}
        : {
            subnetwork: absolute(
              card.subnetwork.startsWith("regions/") ? `projects/${project}/${card.subnetwork}` : card.subnetwork,
            ),
          }),
      stackType: card.stackType ?? "IPV4_ONLY",
      aliasIpRanges: card.aliasIpRanges,
      accessConfigs: card.accessConfigs.map(() => ({
        name: "External NAT",
        type: "ONE_TO_ONE_NAT",
        natIP: externalIps[external++],
      })),
    })),
    selfLink: `${at}/instances/${name}`,
  };
}

const pathOf = ({ project, zone, name }: GceCall): string => `projects/${project}/zones/${zone}/instances/${name}`;

function find(call: GceCall): Instance {
  const found = call.world.instances.get(`${call.project}/${call.zone}/${call.name}`);
  if (found === undefined) throw notFound(pathOf(call));
  return found;
}

/** `instances.get` */
export const getInstance: GceAction = (call) => {
  knownParameters(call);
  return jsonReply(200, instanceJson(call.world, find(call)));
};

/** `instances.list` */
export const listInstances: GceAction = (call) => {
  const { world, project, zone } = call;
  const parameters = knownParameters(call, "filter", "maxResults", "pageToken");
  const fits = readFilter(parameters.get("filter") ?? "");
  const instances = [...world.instances.values()].filter(
    (instance) =>
      instance.project === project &&
      instance.zone === zone &&
      fits((field) =>
        field === "status"
          ? world.status(instance)
          : labeledFields({ name: instance.name, labels: instance.resource.labels })(field),
      ),
  );
  const page = pageOf(instances, parameters);
  return jsonReply(200, {
    kind: "compute#instanceList",
    id: `projects/${project}/zones/${zone}/instances`,
    ...page,
    ...(page.items === undefined ? {} : { items: page.items.map((instance) => instanceJson(world, instance)) }),
    selfLink: `${zoneUrl(project, zone)}/instances`,
  });
};

/** `instances.delete` */
export const deleteInstance: GceAction = (call) => {
  const { world, project, zone, name } = call;
  knownParameters(call, "requestId");
  const known = replayed(call);
  if (known !== undefined) return known;
  const instance = find(call);
  if (instance.resource.deletionProtection) {
    throw new GceRefusal(
      "resourceInUseByAnotherResource",
      `Invalid value for field 'resource.deletionProtection': 'true'. Resource cannot be deleted if it's protected against deletion. ${pathOf(call)}`,
    );
  }
  if (instance.deletingSinceMs !== undefined || instance.heldStatus === "DEPROVISIONING") {
    throw new GceRefusal("resourceNotReady", `The resource '${pathOf(call)}' is not ready`);
  }
  instance.deletingSinceMs = world.nowMs();
  return startOperation(call, {
    operationType: "delete",
    collection: "instances",
    targetId: instance.id,
    targetName: name,
    finish: () => removeInstance(call, `${project}/${zone}/${name}`),
  });
};
