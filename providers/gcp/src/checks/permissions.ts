import { isScratch } from "../spec/disks.ts";
import { readNetwork, readSubnetwork } from "../spec/network-paths.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { projectOfImage } from "./images.ts";
import type { Finding } from "./finding.ts";

/** Permissions that every class needs, in the project of the VMs. Source: the permissions that the API reference lists with each method of Compute Engine. */
const always = [
  "compute.disks.create",
  "compute.disks.delete",
  "compute.disks.list",
  "compute.disks.setLabels",
  "compute.instances.create",
  "compute.instances.delete",
  "compute.instances.get",
  "compute.instances.list",
  "compute.instances.setLabels",
  "compute.instances.setMetadata",
  "compute.instances.setTags",
  "compute.zoneOperations.get",
  "compute.zoneOperations.list",
] as const;

/**
 * Permissions in the project that a class needs: those of all, and those for what it names. Those for networks of another project are granted there, often for single subnetworks
 * (https://cloud.google.com/vpc/docs/provisioning-shared-vpc): the project does not show them.
 */
export function permissionsFor(
  { disks, networkInterfaces, region, serviceAccounts }: GcpSpec,
  project: string,
): readonly string[] {
  const needed = new Set<string>(always);
  const need = (isNeeded: boolean, permission: string): void => void (isNeeded && needed.add(permission));
  for (const disk of disks) {
    need(!isScratch(disk) && projectOfImage(disk.image, project) === project, "compute.images.useReadOnly");
    need((disk.storagePool ?? "") !== "", "compute.storagePools.use");
  }
  for (const { network, subnetwork, disableExternalIP } of networkInterfaces) {
    const used = subnetwork === "" ? readNetwork(network, project) : readSubnetwork(subnetwork, project, region);
    if (used?.project !== project) continue;
    const collection = subnetwork === "" ? "networks" : "subnetworks";
    need(true, `compute.${collection}.use`);
    need(!disableExternalIP, `compute.${collection}.useExternalIp`);
  }
  need(serviceAccounts.length > 0, "compute.instances.setServiceAccount");
  return [...needed].toSorted();
}

/** Whether the credentials have the permissions. Google answers about them without any right to it. */
export async function checkPermissions(spec: GcpSpec, { session, context }: MethodCall): Promise<Finding> {
  const { api, project } = session;
  const needed = permissionsFor(spec, project);
  const granted = await api.testPermissions(project, needed, context.signal);
  const missing = needed.filter((permission) => !granted.has(permission));
  if (missing.length === 0)
    return { status: "ok", message: `All ${needed.length} permissions are granted in the project.` };
  return {
    status: "failed",
    message: `Not allowed in project "${project}": ${missing.join(", ")}.`,
    remedy: "Grant the service account the role in the README of the driver.",
  };
}
