import {
  isReported,
  labelKeys,
  type Machine,
  machineEventReasons,
  type MachineStatus,
  nodeOfAnotherVm,
} from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { placeLabels } from "../state/vm-ids.ts";

/**
 * The node of the machine's VM when the label `node` does not name it, such as after a kubelet registered under another name than the driver
 * reported; `undefined` when the label is correct. Other programs find the node of a machine only by this label.
 */
export function misnamedNodeOf({ machine, node, link }: MachineSnapshot): Node | undefined {
  if (node === undefined || link.match !== "same") return undefined;
  return machine.metadata.labels?.[labelKeys.node] === node.metadata.name ? undefined : node;
}

/** The message that the node named by the machine belongs to another VM, when the machine has no node of its own. */
export function foreignNodeText({ machine, node, link }: MachineSnapshot): string | undefined {
  const { foreignNode } = link;
  if (node !== undefined || foreignNode === undefined) return undefined;
  const { name } = foreignNode.metadata;
  return nodeOfAnotherVm(
    machine.metadata.name,
    machine.spec.providerID ?? "",
    name,
    foreignNode.spec?.providerID ?? "",
  );
}

/** The event with that message; none when the machine's last operation contains it already. */
export const foreignNodeEvents = (status: MachineStatus, message: string): readonly Reason[] =>
  isReported(status, message) ? [] : [{ type: "Warning", reason: machineEventReasons.providerIdMismatch, message }];

/** The patch that sets the label, with the type and zone that the class did not name; conditional on the UID. */
export function labelPatch(machine: Machine, { metadata: { name, labels = {} } }: Node): object {
  const { uid } = machine.metadata;
  const place = placeLabels(machine, { instanceType: labels[labelKeys.instanceType], zone: labels[labelKeys.zone] });
  return { metadata: { ...(uid === undefined ? {} : { uid }), labels: { [labelKeys.node]: name, ...place } } };
}
