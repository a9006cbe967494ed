import type { NodeAddress } from "@millwright/core";
import type { InstanceResource, Place } from "../api/requests.ts";
import type { Marks } from "./owner-tags.ts";
import { providerIdOf } from "./provider-id.ts";

/** An instance, as far as the driver looks at it. */
export interface Vm extends Marks {
  /** Compute Engine's number for it: unlike the name it is never used again. */
  readonly id: string;
  /** Status in Compute Engine's words. */
  readonly status: string;
  readonly instance: InstanceResource;
}

/** Reads an instance; undefined for one without a name. */
export function readVm(instance: InstanceResource, place: Place): Vm | undefined {
  const { name, id, status, tags, labels } = instance;
  if (typeof name !== "string" || name === "") return undefined;
  return {
    place,
    name,
    id: id === null || id === undefined ? "" : String(id),
    status: status ?? "UNKNOWN",
    tags: tags?.items ?? [],
    labels: labels ?? {},
    instance,
  };
}

/**
 * What the statuses of Compute Engine (`Instance.Status` of its API) mean for a machine. One that runs, or that Compute Engine recovers (REPAIRING), has no entry; nor has one that
 * this version does not know.
 */
const phases: Readonly<Record<string, "starting" | "stopping" | "halted">> = {
  // Waits for capacity (flex start).
  PENDING: "starting",
  PROVISIONING: "starting",
  STAGING: "starting",
  PENDING_STOP: "stopping",
  STOPPING: "stopping",
  SUSPENDING: "stopping",
  // Halted, and its resources are being given back.
  DEPROVISIONING: "stopping",
  STOPPED: "halted",
  SUSPENDED: "halted",
  TERMINATED: "halted",
};

const phaseOf = ({ status }: Vm) => (Object.hasOwn(phases, status) ? phases[status] : undefined);

/** Whether a VM is being made: its operation may still fail and take it away. */
export const isStarting = (vm: Vm): boolean => phaseOf(vm) === "starting";

/** Whether a VM is being stopped, suspended or deleted. Compute Engine does not distinguish a stop from a deletion. */
export const isStopping = (vm: Vm): boolean => phaseOf(vm) === "stopping";

/** Whether a VM does not run and can be started again. */
export const isHalted = (vm: Vm): boolean => phaseOf(vm) === "halted";

/** The last part of an address of Google: the name of what it is about. */
export const nameIn = (url: string | null | undefined): string => url?.slice(url.lastIndexOf("/") + 1) ?? "";

/** Provider id, node name and addresses of a VM. */
export function referenceOf({ place, name, instance }: Vm): {
  readonly providerId: string;
  readonly nodeName: string;
  readonly addresses: readonly NodeAddress[];
} {
  const addresses: NodeAddress[] = [];
  for (const { networkIP, accessConfigs } of instance.networkInterfaces ?? []) {
    if (networkIP) addresses.push({ type: "InternalIP", address: networkIP });
    for (const { natIP } of accessConfigs ?? []) if (natIP) addresses.push({ type: "ExternalIP", address: natIP });
  }
  return { providerId: providerIdOf(place, name), nodeName: name, addresses };
}
