import type { MachineIdentity } from "@millwright/core";
import { type ClusterKeys, ownsVm, specHashOf, stableHash, withOwnTags } from "@millwright/core/driver-kit";
import type { Place } from "../api/requests.ts";
import { isInCluster } from "../spec/cluster-keys.ts";
import { type GcpSpec, mostLabels } from "../spec/spec.ts";
import { providerIdOf } from "./provider-id.ts";

/**
 * The labels that the driver adds to those of the class, in the request that creates. VMs that MCM's driver made have only those of the class. Keys and values of labels
 * are lower-case, so a value that cannot be one stands there as a hash.
 */
export const ownerLabelKeys = {
  managedBy: "millwright-managed-by",
  namespace: "millwright-namespace",
  machineUid: "millwright-machine-uid",
  machineClass: "millwright-machine-class",
  token: "millwright-token",
  /** Hash of the spec that the VM was made from. */
  specHash: "millwright-spec-hash",
} as const;

/** Label of disks that the class keeps when their VM is deleted (`autoDelete: false`); its value has no meaning. */
export const keptDiskLabel = "millwright-kept";

/** Value of the label {@link ownerLabelKeys.managedBy}. */
const managedBy = "millwright";

/** The label of all disks that the driver has made. */
export const ownDiskLabel = { key: ownerLabelKeys.managedBy, value: managedBy } as const;

const longestValue = 63;

/** A text as the value of a label: itself where it can be one, a hash of it otherwise. */
export const labelValueOf = (value: string): string =>
  new RegExp(`^[-_a-z0-9]{0,${longestValue}}$`).test(value) ? value : `sha-${stableHash(value).slice(0, 32)}`;

type Labels = Readonly<Record<string, string>>;

/** The driver's own labels of a new VM and its disks, the most needed first. */
export function ownerLabelsOf(spec: GcpSpec, machine: MachineIdentity, machineClass: string, token: string): Labels {
  return {
    [ownerLabelKeys.machineUid]: labelValueOf(machine.uid),
    [ownerLabelKeys.managedBy]: managedBy,
    [ownerLabelKeys.token]: labelValueOf(token),
    [ownerLabelKeys.specHash]: specHashOf(spec),
    [ownerLabelKeys.namespace]: labelValueOf(machine.namespace),
    [ownerLabelKeys.machineClass]: labelValueOf(machineClass),
  };
}

/**
 * All labels of a new VM or disk ({@link withOwnTags}). Where not all fit, those go first that only people read. A VM without a UID is known as those of MCM's driver are, by its name and tags. A disk without one that does not
 * go with its VM stays, as with MCM. That there is one VM per machine rests on its name and the request id.
 *
 * @param own the driver's, the most needed first
 */
export function allLabels(given: Labels, own: Labels): Labels {
  return withOwnTags(given, own, mostLabels);
}

/** Labels that identify the owner of a VM. */
export interface Marks {
  readonly place: Place;
  readonly name: string;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A machine in the words of labels. */
const asLabels = ({ name, namespace, uid }: MachineIdentity): Pick<MachineIdentity, "name" | "namespace" | "uid"> => ({
  name,
  namespace: labelValueOf(namespace),
  uid: labelValueOf(uid),
});

/** Whether a VM was made for this machine ({@link ownsVm}). VMs have the names of their machines. */
export function isOwnedBy({ place, name, tags, labels }: Marks, keys: ClusterKeys, machine: MachineIdentity): boolean {
  return ownsVm(asLabels(machine), {
    machineName: name,
    namespace: labels[ownerLabelKeys.namespace] ?? "",
    machineUid: labels[ownerLabelKeys.machineUid] ?? "",
    isOfCluster: isInCluster(tags, keys),
    isNamedById: machine.providerId === providerIdOf(place, name),
  });
}
