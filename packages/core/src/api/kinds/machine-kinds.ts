import { machineClassResource } from "./machine-class.ts";
import { machineDeploymentResource } from "./machine-deployment.ts";
import { machineSetResource } from "./machine-set.ts";
import { machineResource } from "./machine.ts";

/** The four kinds of the Machine API by kind name. */
export const machineKinds = {
  Machine: machineResource,
  MachineClass: machineClassResource,
  MachineDeployment: machineDeploymentResource,
  MachineSet: machineSetResource,
} as const;

/** Name of one of the four kinds. */
export type MachineKind = keyof typeof machineKinds;
