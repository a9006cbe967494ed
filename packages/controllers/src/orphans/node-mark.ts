import { isRecord } from "@millwright/base";
import { annotationKeys } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { Node } from "../model/node-objects.ts";
import type { OrphanVm } from "./nodes-of-vm.ts";

/** What is recorded on the Node of a VM without machine. */
export interface NodeMark {
  /** Namespace and name of the MachineClass: of several installations in one cluster, each takes back its own marks. */
  readonly machineClass: string;
  /** Whether the Node was schedulable before: then it is made so again. */
  readonly cordoned: boolean;
}

/** The mark of a Node; one that cannot be read is none. */
export function readNodeMark({ metadata }: Node): NodeMark | undefined {
  try {
    const mark: unknown = JSON.parse(metadata.annotations?.[annotationKeys.orphanNode] ?? "");
    if (!isRecord(mark) || typeof mark["machineClass"] !== "string") return undefined;
    return { machineClass: mark["machineClass"], cordoned: mark["cordoned"] === true };
  } catch {
    return undefined;
  }
}

/** Cordons a Node, and records why. A patch applies only to the version that was read: another client may cordon it meanwhile. */
export function markPatch(
  { metadata, spec }: Node,
  { className, providerId, entry }: OrphanVm,
  namespace: string,
): object {
  const { machine, deleteAfter } = entry;
  const mark = {
    reason: "The VM has no Machine and will be deleted",
    machineClass: `${namespace}/${className}`,
    providerID: providerId,
    machine,
    ...(deleteAfter === undefined ? {} : { deleteAfter: apiTime(new Date(deleteAfter)) }),
    cordoned: spec?.unschedulable !== true,
  };
  return {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      annotations: { [annotationKeys.orphanNode]: JSON.stringify(mark) },
    },
    spec: { unschedulable: true },
  };
}

/** Takes the mark and what the drain recorded off a Node, and makes it schedulable if the mark had ended that. */
export const unmarkPatch = ({ metadata }: Node, { cordoned }: NodeMark): object => ({
  metadata: {
    resourceVersion: metadata.resourceVersion,
    annotations: {
      [annotationKeys.orphanNode]: null,
      [annotationKeys.drainState]: null,
      [annotationKeys.interruptionDeadline]: null,
    },
  },
  ...(cordoned ? { spec: { unschedulable: null } } : {}),
});
