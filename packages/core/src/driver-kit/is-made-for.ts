import type { MachineIdentity } from "../driver/messages.ts";

/** What a VM, or a part of one, says of whose it is, and how it compares with what a call is about. */
export interface OwnerMarks {
  /** Name of the machine that it was made for. */
  readonly machineName: string;
  /** Namespace of that machine; empty where nothing says it. */
  readonly namespace: string;
  /** UID of that machine; empty where nothing says it, as with what drivers of MCM made. */
  readonly machineUid: string;
  /** Whether it has the marks of the cluster that the class belongs to, such as tags of cluster and role. */
  readonly isOfCluster: boolean;
  /** Whether `spec.providerID` of the machine names exactly this VM; of a part, the VM that it was made for. */
  readonly isNamedById: boolean;
}

/**
 * Whether a VM was made for a machine: the rule of all drivers. It has the machine's name, and
 *
 * - the machine's UID, which no other machine ever has: whatever became of the class's tags since; or else
 * - the marks of the cluster and no other namespace, and either one side knows no UID (VMs of MCM, orphans) or the machine's provider id
 *   names it. The object of such a machine was made anew under its old name: from a backup, in another control plane, or after the definition of its kind had been
 *   deleted. It has another UID then, and its VM is the same.
 *
 * A machine that was deleted and created again has no provider id, so that it never takes the VM of the one before.
 *
 * Nobody writes the new UID on the VM: the answer follows from what both sides say at any time, so there is nothing to write before it holds, no write that can fail or
 * be done by half, and the way back to the object before stays open. The tag goes on saying for whom the VM was made.
 *
 * Namespaces and UIDs are compared as they are: a driver whose cloud cannot hold one as it is translates both sides. A namespace or a UID that is empty is one that is not known.
 */
export function isMadeFor(machine: Pick<MachineIdentity, "name" | "namespace" | "uid">, marks: OwnerMarks): boolean {
  if (marks.machineName !== machine.name) return false;
  const isUidKnown = machine.uid !== "" && marks.machineUid !== "";
  if (isUidKnown && marks.machineUid === machine.uid) return true;
  const isOtherNamespace = machine.namespace !== "" && marks.namespace !== "" && marks.namespace !== machine.namespace;
  return marks.isOfCluster && !isOtherNamespace && (!isUidKnown || marks.isNamedById);
}
