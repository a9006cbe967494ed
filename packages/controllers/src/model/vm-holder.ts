import { providerIdKey } from "@millwright/core/driver-host";
import type { Machine } from "@millwright/core/machine-api";
import { readIntent } from "./creation-intent.ts";
import type { OperationView } from "./operation.ts";
import { hasId } from "./provisioning.ts";

/** Another Machine to which the VM of a machine belongs. */
export interface VmHolder {
  readonly name: string;
  readonly providerId: string;
}

/** The VM that a machine names, or with which its driver answered; empty for none. */
export function claimedVm(machine: Machine, operation: OperationView | undefined): string {
  if (hasId(machine)) return machine.spec.providerID ?? "";
  if (operation?.state === "done") return operation.result.providerId ?? "";
  return readIntent(machine)?.foreignVm ?? "";
}

/** Whether the id ends in the name of the machine: its driver names VMs after the machines that it creates them for. */
const isNamedAfter = ({ metadata }: Machine, providerId: string): boolean =>
  providerIdKey(providerId) === metadata.name.toLowerCase();

/** The Machines for which VMs were created that several Machines name. */
export interface VmOwners {
  /** Name of the Machine for which a VM was created, by the tags of the VM; `undefined` while no list of a driver contains it, or while only one Machine names it. */
  ownerOf(providerId: string): string | undefined;
  /** Calls `listener` with the key of each machine that names a VM whose owner becomes known. */
  onChange(listener: (key: string) => void): void;
}

/** What is known of the Machine for which a VM was created, by name. */
export interface KnownOwner {
  /** By the tags of the VM. */
  readonly ofTags: string | undefined;
  /** By the label of its node. */
  readonly ofNode: string | undefined;
}

/**
 * The machine to which a VM belongs, of several that name it: the one for which the VM was created, by its tags, its id or the label of its node; else the older one,
 * then the one with the smaller UID.
 */
export function firstHolder(
  providerId: string,
  machines: readonly Machine[],
  { ofTags, ofNode }: KnownOwner,
): Machine | undefined {
  const rank = (machine: Machine): readonly string[] => {
    const { name, uid = name, creationTimestamp } = machine.metadata;
    const isMadeFor = isNamedAfter(machine, providerId);
    const claims = [name === ofTags, isMadeFor, name === ofNode];
    return [...claims.map((claim) => (claim ? "0" : "1")), creationTimestamp ?? "", uid];
  };
  const before = (a: readonly string[], b: readonly string[]): number => {
    const index = a.findIndex((part, at) => part !== b[at]);
    return index === -1 ? 0 : (a[index] ?? "") < (b[index] ?? "") ? -1 : 1;
  };
  return machines.toSorted((a, b) => before(rank(a), rank(b)))[0];
}
