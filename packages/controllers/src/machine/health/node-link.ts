import {
  isReported,
  labelKeys,
  type Machine,
  machineEventReasons,
  type MachineStatus,
  nodeOfAnotherVm,
  phaseOf,
} from "@millwright/core/machine-api";
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

/** The place of a VM as its node has it, where the machine has none: the class may not name it, or a fallback may have another. */
const placeOf = (machine: Machine, { metadata: { labels = {} } }: Node): Readonly<Record<string, string>> =>
  placeLabels(machine, { instanceType: labels[labelKeys.instanceType], zone: labels[labelKeys.zone] });

/**
 * The labels that the machine lacks of its node: the name, without which others do not find the node, and with it or once the machine is Running, type and
 * zone of the VM. Before that the cloud's own controller may still add the zone, and a second patch would follow the first.
 */
export function missingLabels(snapshot: MachineSnapshot): Readonly<Record<string, string>> {
  const { machine, node, link } = snapshot;
  if (node === undefined || link.match !== "same") return {};
  const isNamed = misnamedNodeOf(snapshot) === undefined;
  if (isNamed && phaseOf(machine) !== "Running") return {};
  return { ...(isNamed ? {} : { [labelKeys.node]: node.metadata.name }), ...placeOf(machine, node) };
}
