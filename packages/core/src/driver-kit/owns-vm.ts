import type { MachineIdentity } from "../driver/messages.ts";

/** Owner of a VM, or of a part of one, according to its tags, compared with the machine of a call. */
export interface OwnerMarks {
  /** Name of the machine that it was created for. */
  readonly machineName: string;
  /** Namespace of that machine; empty if unknown. */
  readonly namespace: string;
  /** UID of that machine; empty if unknown, as for VMs of MCM's drivers. */
  readonly machineUid: string;
  /** Whether it has the marks of the cluster that the class belongs to, such as tags of cluster and role. */
  readonly isOfCluster: boolean;
  /** Whether `spec.providerID` of the machine names exactly this VM; for a part, the VM that it was created for. */
  readonly isNamedById: boolean;
}

/**
 * Whether a VM was created for a machine: the rule of all drivers. It has the machine's name, and
 *
 * - the machine's UID, which no other machine ever has, even if the tags of the class have changed; or else
 * - the marks of the cluster and no other namespace, and either one side knows no UID (VMs of MCM, orphans) or the machine's provider id
 *   names it. The object of such a machine was restored under its old name: from a backup, in another control plane, or after the CRD of its kind was
 *   deleted. It has a new UID and the same VM.
 *
 * A machine that was deleted and created again has no provider id, so it never adopts the VM of its predecessor.
 *
 * The new UID is not written to the VM: the rule needs only what both sides contain already, so no write can fail or
 * be incomplete, and the former object can be restored as well. The tag keeps the UID for which the VM was created.
 *
 * Namespaces and UIDs are compared exactly: a driver whose cloud cannot store one as it is converts both sides. An empty namespace or UID is unknown.
 */
export function ownsVm(machine: Pick<MachineIdentity, "name" | "namespace" | "uid">, marks: OwnerMarks): boolean {
  if (marks.machineName !== machine.name) return false;
  const isUidKnown = machine.uid !== "" && marks.machineUid !== "";
  if (isUidKnown && marks.machineUid === machine.uid) return true;
  const isOtherNamespace = machine.namespace !== "" && marks.namespace !== "" && marks.namespace !== machine.namespace;
  return marks.isOfCluster && !isOtherNamespace && (!isUidKnown || marks.isNamedById);
}
