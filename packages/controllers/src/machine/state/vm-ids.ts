import { isRecord } from "@millwright/base";
import { annotationKeys, defaultMachinePriority, labelKeys, type Machine } from "@millwright/core/machine-api";
import { type CreationIntent, intentAnnotation, newIntent, readIntent } from "../../model/creation-intent.ts";
import { hasId } from "../../model/provisioning.ts";
import { isStaleNode } from "../../model/stale-node.ts";
import type { MachineAction } from "./decision.ts";
import type { OperationResult } from "../../model/operation.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** What a new VM is compared with. */
type Known = Pick<MachineSnapshot, "machine" | "hasTarget" | "link" | "classView">;

/** Whether the VM that was found came up under the name of another VM's node. */
export const isVmOfStaleNode = ({ machine, hasTarget, link: { sameNameNode } }: Known): boolean =>
  hasTarget && sameNameNode !== undefined && isStaleNode(sameNameNode, machine);

/** Whether a text, such as the name of a node, can be the value of a label: names have up to 253 characters, values 63. A node is found by its provider id otherwise. */
export const canBeLabel = (text: string): boolean => /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text);

/** The labels that show where the VM of a machine is, and of which type. Those of the machine, such as from its template, are kept. */
export const placeLabels = (
  { metadata }: Machine,
  { instanceType = "", zone = "" }: { readonly instanceType?: string | undefined; readonly zone?: string | undefined },
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ [labelKeys.instanceType]: instanceType, [labelKeys.zone]: zone }).filter(
      ([key, value]) => canBeLabel(value) && metadata.labels?.[key] === undefined,
    ),
  );

/** Whether a driver may have made the VM with another type, or in another zone, than the class names first. */
const hasFallbacks = (providerSpec: unknown): boolean =>
  isRecord(providerSpec) && Array.isArray(providerSpec["fallbacks"]) && providerSpec["fallbacks"].length > 0;

/** The labels from the class of the machine. A class that only stands in for it in a deletion did not make the VM. */
function placeOfClass({ machine, classView }: Known): Readonly<Record<string, string>> {
  if (classView.state !== "usable") return {};
  const { metadata, nodeTemplate = {}, providerSpec } = classView.machineClass;
  if (hasFallbacks(providerSpec)) return {};
  return metadata.name === machine.spec.class?.name ? placeLabels(machine, nodeTemplate) : {};
}

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
  const labels = {
    ...(hasTarget && !isStale && canBeLabel(nodeName) ? { [labelKeys.node]: nodeName } : {}),
    ...placeOfClass(known),
  };
  const patch = {
    metadata: {
      ...(uid === undefined ? {} : { uid }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
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
