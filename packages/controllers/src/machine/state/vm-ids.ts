import { annotationKeys, defaultMachinePriority, labelKeys, type Machine } from "@millwright/core";
import { type CreationIntent, intentAnnotation, newIntent, readIntent } from "../../model/creation-intent.ts";
import { hasId } from "../../model/provisioning.ts";
import { isStaleNode } from "../../model/stale-node.ts";
import type { MachineAction } from "./decision.ts";
import type { OperationResult } from "../../model/operation.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** What a new VM is compared with. */
type Known = Pick<MachineSnapshot, "machine" | "hasTarget" | "link">;

/** Whether the VM that was found came up under the name of another VM's node. */
export const isVmOfStaleNode = ({ machine, hasTarget, link: { sameNameNode } }: Known): boolean =>
  hasTarget && sameNameNode !== undefined && isStaleNode(sameNameNode, machine);

/** Whether the name of a node can be stored in the label `node`: names have up to 253 characters, values of labels 63. The node is found by its provider id otherwise. */
export const canBeLabel = (nodeName: string): boolean =>
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(nodeName);

/** The annotations that are written with the id of a VM. */
function annotationsFor({ metadata, spec }: Machine, marks: Pick<CreationIntent, "needsInitialization" | "staleNode">) {
  const intent = readIntent({ metadata }) ?? newIntent({ metadata, spec });
  const priority = metadata.annotations?.[annotationKeys.machinePriority] ?? "";
  return {
    ...(priority === "" ? { [annotationKeys.machinePriority]: String(defaultMachinePriority) } : {}),
    ...(Object.keys(marks).length === 0 ? {} : intentAnnotation({ ...intent, ...marks })),
  };
}

/**
 * Stores the id of a VM and the name of its node on the machine, and acknowledges the call that returned them. The UID makes the patch
 * conditional: another machine of the same name never gets this VM. The name of another VM's node is not stored as the machine's node, but as the reason to delete the VM.
 */
export function recordIds(known: Known, result: OperationResult): readonly MachineAction[] {
  const { machine, hasTarget } = known;
  const { providerId = "", nodeName = "", needsInitialization } = result;
  const { uid } = machine.metadata;
  const isStale = isVmOfStaleNode(known);
  const annotations = annotationsFor(machine, {
    ...(needsInitialization === true ? { needsInitialization } : {}),
    ...(isStale ? { staleNode: nodeName } : {}),
  });
  const patch = {
    metadata: {
      ...(uid === undefined ? {} : { uid }),
      ...(hasTarget && !isStale && canBeLabel(nodeName) ? { labels: { [labelKeys.node]: nodeName } } : {}),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    // An id that is stored is never replaced by that of another VM.
    spec: { providerID: hasId(machine) ? machine.spec.providerID : providerId },
  };
  return [{ kind: "PatchMachine", patch }, { kind: "AcknowledgeOperation" }];
}

/** Whether the machine has what {@link recordIds} stores of a VM that may stay. */
export function areIdsRecorded({ machine, hasTarget }: Known, { providerId, nodeName = "" }: OperationResult): boolean {
  if (!hasId(machine) || machine.spec.providerID !== providerId || readIntent(machine)?.staleNode !== undefined)
    return false;
  return !hasTarget || !canBeLabel(nodeName) || machine.metadata.labels?.[labelKeys.node] === nodeName;
}
