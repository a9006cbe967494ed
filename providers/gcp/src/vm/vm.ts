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

/** Whether a VM is being made: its operation may still fail and take it away. */
export const isStarting = ({ status }: Vm): boolean => status === "PROVISIONING" || status === "STAGING";

/** Whether a VM is on its way to be stopped or deleted. Compute Engine does not say which. */
export const isStopping = ({ status }: Vm): boolean => status === "STOPPING" || status === "PENDING_STOP";

/** Whether a VM does not run and can be started again. */
export const isHalted = ({ status }: Vm): boolean => ["TERMINATED", "STOPPED", "SUSPENDED"].includes(status);

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
