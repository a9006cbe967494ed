import type { ResourceType } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";

/**
 * The kinds of a backup, in the order in which they are created. Owned objects come before their owners: a deployment that finds no set would create one, and a set that finds no machines would create VMs. A set
 * comes before its machines because it waits for them, by its annotation `machine.millwright.dev/expected-replicas`.
 */
export const backupKinds = [
  secretResource,
  machineClassResource,
  machineSetResource,
  machineResource,
  machineDeploymentResource,
] as const satisfies readonly ResourceType[];

/** A kind of a backup. */
export type BackupKind = "Secret" | "MachineClass" | "MachineSet" | "Machine" | "MachineDeployment";
