import {
  annotationKeys,
  finalizers,
  type Machine,
  machineApiVersion,
  type MachineSet,
  machineSetResource,
  parseGoDuration,
} from "@millwright/core";
import { newControllerRef } from "@millwright/kube";

/**
 * The machine that a set creates. It carries the machine controller's finalizer from birth, which saves a write per machine
 * and leaves no moment in which a machine with a VM could vanish.
 */
export function newMachine(set: MachineSet, name: string): Machine {
  const template = set.spec?.template;
  // Set by whoever wants this generation of machines to be given more or less time; beats the template when it reads as a duration.
  const creationTimeout = set.metadata.annotations?.[annotationKeys.effectiveCreationTimeout];
  return {
    apiVersion: machineApiVersion,
    kind: "Machine",
    metadata: {
      name,
      namespace: set.metadata.namespace ?? "",
      labels: { ...template?.metadata?.labels },
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
