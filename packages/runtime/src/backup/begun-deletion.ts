import { markedStage, recordedHold } from "@millwright/controllers/reports";
import { readMachine } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";

/** Whether an object is a Machine whose Node is being drained, or whose VM is being deleted. While its deletion is held, its VM is in service. */
export function hasBegunDeletion(object: KubeObject): boolean {
  const read = readMachine(object);
  if (!read.ok || object.metadata.deletionTimestamp === undefined) return false;
  return markedStage({ machine: read.value }) !== undefined && recordedHold(read.value, {}) === undefined;
}
