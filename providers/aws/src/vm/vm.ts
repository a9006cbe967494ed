import type { Instance } from "@aws-sdk/client-ec2";
import type { MachineIdentity, NodeAddress } from "@millwright/core";
import { type ClusterKeys, severalVms } from "@millwright/core/driver-kit";
import { isOwnedBy, type Owned } from "./owner-tags.ts";
import { providerIdOf } from "./provider-id.ts";

/** An instance, as far as the driver looks at it. */
export interface Vm extends Owned {
  readonly region: string;
  /** State in EC2's words. */
  readonly state: string;
  /** Private DNS name; empty while EC2 has not given one, and after the end. */
  readonly nodeName: string;
  /** EC2's reason of the state; empty if there is none. */
  readonly reason: string;
  readonly instance: Instance;
}

/** Reads an instance; undefined for one without an id. */
export function readVm(instance: Instance, region: string): Vm | undefined {
  const { InstanceId: id = "", State, Tags = [], PrivateDnsName = "", StateReason } = instance;
  if (id === "") return undefined;
  return {
    id,
    region,
    state: State?.Name ?? "unknown",
    tags: new Map(Tags.map(({ Key = "", Value = "" }) => [Key, Value])),
    nodeName: PrivateDnsName,
    reason: StateReason?.Code ?? "",
    instance,
  };
}

/** Whether nothing is left of a VM that could run. */
export const isTerminated = ({ state }: Vm): boolean => state === "terminated";

/** Whether a VM is there to stay. */
export const isLive = ({ state }: Vm): boolean => state !== "terminated" && state !== "shutting-down";

/** Provider id, node name and addresses of a VM. */
export function referenceOf({ id, region, nodeName, instance }: Vm): {
  readonly providerId: string;
  readonly nodeName: string;
  readonly addresses: readonly NodeAddress[];
} {
  const addresses = [
    { type: "InternalIP", address: instance.PrivateIpAddress ?? "" },
    { type: "ExternalIP", address: instance.PublicIpAddress ?? "" },
    { type: "InternalDNS", address: nodeName },
    { type: "ExternalDNS", address: instance.PublicDnsName ?? "" },
  ];
  return {
    providerId: providerIdOf(region, id),
    nodeName,
    addresses: addresses.filter(({ address }) => address !== ""),
  };
}

/** EC2's reason for the end of a VM: spot instances that were reclaimed. */
export function endOf({ id, state, reason }: Vm): string {
  const isReclaimed = reason === "Server.SpotInstanceTermination" || reason === "Server.SpotInstanceShutdown";
  if (isReclaimed) return `${id} was reclaimed: EC2 took the spot instance back (${reason})`;
  return `${id} is ${state}${reason === "" ? "" : ` (${reason})`}`;
}

/**
 * The one VM of a machine that is there to stay, out of those that carry its name.
 *
 * @throws MachineError OutOfRange when there are several
 */
export function ownLiveVm(vms: readonly Vm[], keys: ClusterKeys, machine: MachineIdentity): Vm | undefined {
  const own = vms.filter((vm) => isLive(vm) && isOwnedBy(vm, keys, machine));
  if (own.length > 1) {
    throw severalVms(
      machine,
      own.map(({ region, id }) => providerIdOf(region, id)),
    );
  }
  return own[0];
}
