import { type GceAction, type GceCall, knownParameters } from "./call.ts";
import type { Instance } from "./instance.ts";
import { type InstanceResource, readInstance } from "./instance-resource.ts";
import type { Operation } from "./operation.ts";
import { demand, permissionsToInsert } from "./permissions.ts";
import { GceRefusal, invalidValue, notFound } from "./refusal.ts";
import { replayed, startOperation } from "./start-operation.ts";
import type { GceWorld } from "./world.ts";

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
/** A reference without the address of the API. */
const withoutAddress = (reference: string): string => reference.replace(/^https:\/\/[^/]+\/compute\/v1\//, "");
const regionOf = (zone: string): string => zone.slice(0, zone.lastIndexOf("-"));

/** `instances.insert`: creates an instance with its disks, or an operation that fails and leaves no resources. */
export const insertInstance: GceAction = (call) => {
  const { world, request, project, zone } = call;
  knownParameters(call, "requestId");
  const known = replayed(call);
  if (known !== undefined) return known;
  const resource = readInstance(request.body);
  demand(call, ...permissionsToInsert(resource));
  checkReferences(call, resource);
  const key = `${project}/${zone}/${resource.name}`;
  if (world.instances.has(key)) {
    throw new GceRefusal(
      "alreadyExists",
      `The resource 'projects/${project}/zones/${zone}/instances/${resource.name}' already exists`,
    );
  }
  checkDiskNames(call, resource);
  checkQuota(call, resource);
  const instance = makeInstance(call, resource);
  const error = lackOfCapacity(call, resource);
  instance.neverStarts = error !== undefined;
  return startOperation(call, {
    operationType: "insert",
    collection: "instances",
    targetId: instance.id,
    targetName: resource.name,
    ...(error === undefined ? {} : { error, finish: () => removeInstance(call, key) }),
  });
};

function checkReferences(call: GceCall, resource: InstanceResource): void {
  const { world, zone } = call;
  const typeName = lastPart(resource.machineType);
  const type = world.machineTypes.get(typeName);
  const field = "resource.machineType";
  if (!resource.machineType.endsWith(`zones/${zone}/machineTypes/${typeName}`)) {
    throw invalidValue(field, resource.machineType, "The URL is malformed.");
  }
  if (type === undefined || type.zones?.includes(zone) === false) {
    throw invalidValue(
      field,
      resource.machineType,
      `Machine type with name '${typeName}' does not exist in zone '${zone}'.`,
    );
  }
  for (const [index, disk] of resource.disks.entries()) {
    const { initializeParams } = disk;
    const image = initializeParams?.sourceImage ?? "";
    if (image !== "" && !world.images.has(withoutAddress(image))) throw notFound(image);
    const diskType = initializeParams?.diskType ?? "";
    if ((lastPart(diskType) === "local-ssd") !== (disk.type === "SCRATCH")) {
      const why = "Disk type local-ssd is for disks of type SCRATCH, and for those alone.";
      throw invalidValue(`resource.disks[${index}].initializeParams.diskType`, diskType, why);
    }
    if (diskType !== "" && !new RegExp(`zones/${zone}/diskTypes/[a-z0-9-]+$`).test(diskType)) {
      throw invalidValue(`resource.disks[${index}].initializeParams.diskType`, diskType, "The URL is malformed.");
    }
  }
  if (resource.networkInterfaces.length === 0) {
    throw new GceRefusal("required", "At least one network interface is required.");
  }
  for (const [index, card] of resource.networkInterfaces.entries()) checkNetwork(call, card, index);
}

/** Network and subnetwork are of this project, or of another one with Shared VPC. */
function checkNetwork(
  { world, project, zone }: GceCall,
  { network, subnetwork }: InstanceResource["networkInterfaces"][number],
  index: number,
): void {
  if (network !== undefined) {
    const [, host = project, name = ""] =
      /^(?:projects\/([^/]+)\/)?global\/networks\/([^/]+)$/.exec(withoutAddress(network)) ?? [];
    if (!world.projects.has(host) || !world.networks.has(name)) throw notFound(network);
  }
  if (subnetwork === undefined) return;
  const [, host = project, region, name] =
    /^(?:projects\/([^/]+)\/)?regions\/([^/]+)\/subnetworks\/([^/]+)$/.exec(withoutAddress(subnetwork)) ?? [];
  if (region !== regionOf(zone)) {
    throw invalidValue(
      `resource.networkInterfaces[${index}].subnetwork`,
      subnetwork,
      "Subnetwork must be in the region of the instance.",
    );
  }
  if (!world.projects.has(host) || !world.subnetworks.has(`${region}/${name}`)) {
    throw notFound(`projects/${host}/regions/${region}/subnetworks/${name}`);
  }
}

const diskNameOf = (instanceName: string, index: number, given: string | undefined): string =>
  given ?? (index === 0 ? instanceName : `${instanceName}-${index}`);

function checkDiskNames({ world, project, zone }: GceCall, { name, disks }: InstanceResource): void {
  for (const [index, { type, initializeParams }] of disks.entries()) {
    const diskName = diskNameOf(name, index, initializeParams?.diskName);
    if (type === "PERSISTENT" && world.disks.has(`${project}/${zone}/${diskName}`)) {
      throw new GceRefusal(
        "alreadyExists",
        `The resource 'projects/${project}/zones/${zone}/disks/${diskName}' already exists`,
      );
    }
  }
}

function checkQuota({ world, zone }: GceCall, resource: InstanceResource): void {
  const limit = world.options.cpuQuota;
  if (limit === undefined) return;
  const cpusOf = (machineType: string): number => world.machineTypes.get(lastPart(machineType))?.guestCpus ?? 0;
  const region = regionOf(zone);
  const used = [...world.instances.values()]
    .filter((instance) => regionOf(instance.zone) === region && world.status(instance) !== "TERMINATED")
    .reduce((sum, instance) => sum + cpusOf(instance.resource.machineType), 0);
  if (used + cpusOf(resource.machineType) <= limit) return;
  throw new GceRefusal("quotaExceeded", `Quota 'CPUS' exceeded.  Limit: ${limit}.0 in region ${region}.`);
}

/** Uses up capacity for one instance, or returns the operation's error when there is none. */
function lackOfCapacity({ world, project, zone }: GceCall, { machineType }: InstanceResource): Operation["error"] {
  const type = lastPart(machineType);
  const keys = [`${type}/${zone}`, type].filter((key) => world.capacity.has(key));
  if (keys.every((key) => (world.capacity.get(key) ?? 0) > 0)) {
    for (const key of keys) world.capacity.set(key, (world.capacity.get(key) ?? 0) - 1);
    return undefined;
  }
  const message = `The zone 'projects/${project}/zones/${zone}' does not have enough resources available to fulfill the request.  '(resource type:compute)'.`;
  const errorDetails = [
    {
      errorInfo: {
        reason: "resource_availability",
        domain: "compute.googleapis.com",
        metadatas: { zone, vmType: type, zonesAvailable: zonesWith(world, type, zone).join(",") },
      },
    },
    { localizedMessage: { locale: "en-US", message } },
    {
      help: {
        links: [
          { description: "Troubleshooting documentation", url: "https://cloud.google.com/compute/docs/resource-error" },
        ],
      },
    },
  ];
  return { errors: [{ code: "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", message, errorDetails }], httpStatus: 503 };
}

/** Other zones of the region with capacity for a type. */
function zonesWith({ capacity }: GceWorld, type: string, zone: string): readonly string[] {
  const prefix = `${type}/${regionOf(zone)}-`;
  return [...capacity].flatMap(([key, left]) => (key.startsWith(prefix) && left > 0 ? [lastPart(key)] : []));
}

function makeInstance({ world, project, zone }: GceCall, resource: InstanceResource): Instance {
  const id = world.nextId();
  const number = (): number => Number.parseInt(world.random.hex(1), 16);
  const instance: Instance = {
    id,
    name: resource.name,
    project,
    zone,
    resource,
    createdAtMs: world.nowMs(),
    creationTimestamp: world.timestamp(),
    networkIp: `10.${number()}.${number()}.${number()}`,
    externalIps: resource.networkInterfaces.flatMap(({ accessConfigs }) =>
      accessConfigs.map(() => `203.0.113.${number()}`),
    ),
  };
  world.instances.set(`${project}/${zone}/${resource.name}`, instance);
  for (const [index, { type, initializeParams, autoDelete, boot }] of resource.disks.entries()) {
    if (type === "SCRATCH") continue;
    const name = diskNameOf(resource.name, index, initializeParams?.diskName);
    world.disks.set(`${project}/${zone}/${name}`, {
      id: world.nextId(),
      name,
      project,
      zone,
      type: lastPart(initializeParams?.diskType ?? "pd-standard"),
      sizeGb: initializeParams?.diskSizeGb ?? 10,
      sourceImage: withoutAddress(initializeParams?.sourceImage ?? ""),
      labels: initializeParams?.labels ?? {},
      boot,
      autoDelete,
      instanceId: id,
    });
  }
  return instance;
}

/** Deletes an instance and its disks with autoDelete, also after a failed insertion. */
export function removeInstance({ world }: Pick<GceCall, "world">, key: string): void {
  const instance = world.instances.get(key);
  if (instance === undefined) return;
  world.instances.delete(key);
  for (const [diskKey, disk] of world.disks) {
    if (disk.instanceId !== instance.id) continue;
    if (disk.autoDelete) world.disks.delete(diskKey);
    else disk.instanceId = undefined;
  }
}
