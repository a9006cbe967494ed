import { parseGoDuration } from "@millwright/base";
import {
  annotationKeys,
  finalizers,
  labelKeys,
  type Machine,
  machineApiVersion,
  type MachineSet,
  machineSetResource,
  selectorMatches,
} from "@millwright/core/machine-api";
import { newControllerRef } from "@millwright/kube";

/** The labels of a new machine. A template that was copied from a machine names the node of that one; it only stays where the set would release the machine without it, and create the next one. */
function labelsOf({ spec }: MachineSet): Readonly<Record<string, string>> {
  const all = { ...spec?.template?.metadata?.labels };
  const { [labelKeys.node]: nodeName, ...labels } = all;
  return nodeName === undefined || selectorMatches(spec?.selector, labels) ? labels : all;
}

/**
 * The machine that a set creates. It is created with the machine controller's finalizer, which saves a write per machine
 * and guarantees that no machine with a VM is removed without its VM.
 */
export function newMachine(set: MachineSet, name: string): Machine {
  const template = set.spec?.template;
  // Set by users to change the timeout of this generation of machines; takes precedence over the template when it is a valid duration.
  const creationTimeout = set.metadata.annotations?.[annotationKeys.effectiveCreationTimeout];
  return {
    apiVersion: machineApiVersion,
    kind: "Machine",
    metadata: {
      name,
      namespace: set.metadata.namespace ?? "",
      labels: labelsOf(set),
      annotations: {
        ...template?.metadata?.annotations,
        ...(creationTimeout === undefined ? {} : { [annotationKeys.effectiveCreationTimeout]: creationTimeout }),
      },
      finalizers: [...new Set([...(template?.metadata?.finalizers ?? []), finalizers.machine])],
      ownerReferences: [newControllerRef(machineSetResource, set)],
    },
    spec: {
      ...template?.spec,
      ...(creationTimeout === undefined || parseGoDuration(creationTimeout) === undefined ? {} : { creationTimeout }),
    },
  };
}
