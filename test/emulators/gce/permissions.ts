import type { GceCall } from "./call.ts";
import type { InstanceResource } from "./instance-resource.ts";
import { GceRefusal } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/**
 * Rejects a caller without a permission, if the world has permissions.
 *
 * @throws GceRefusal
 */
export const demand = ({ world, project, zone }: GceCall, ...permissions: readonly string[]): void =>
  demandIn(world, `projects/${project}/zones/${zone}`, ...permissions);

/** {@link demand} for any resource, by its path. */
export function demandIn({ options }: GceWorld, path: string, ...permissions: readonly string[]): void {
  const missing = permissions.find((permission) => options.permissions?.includes(permission) === false);
  if (missing !== undefined) throw new GceRefusal("forbidden", `Required '${missing}' permission for '${path}'`);
}

/** The permissions that `instances.insert` requires besides `compute.instances.create`, by fields of the new instance (as listed in the API reference). */
export function permissionsToInsert(resource: InstanceResource): readonly string[] {
  const { disks, networkInterfaces, labels, metadata, tags, serviceAccounts } = resource;
  const needed = new Set<string>();
  const need = (isNeeded: boolean, permission: string): void => void (isNeeded && needed.add(permission));
  for (const { type, initializeParams } of disks) {
    need(type === "PERSISTENT", "compute.disks.create");
    need(Object.keys(initializeParams?.labels ?? {}).length > 0, "compute.disks.setLabels");
    need(initializeParams?.sourceImage !== undefined, "compute.images.useReadOnly");
    need(initializeParams?.storagePool !== undefined, "compute.storagePools.use");
  }
  for (const { subnetwork, accessConfigs } of networkInterfaces) {
    const at = subnetwork === undefined ? "networks" : "subnetworks";
    need(true, `compute.${at}.use`);
    need(accessConfigs.length > 0, `compute.${at}.useExternalIp`);
  }
  need(Object.keys(labels).length > 0, "compute.instances.setLabels");
  need(metadata.items.length > 0, "compute.instances.setMetadata");
  need(tags.items.length > 0, "compute.instances.setTags");
  need(serviceAccounts.length > 0, "compute.instances.setServiceAccount");
  return [...needed];
}
