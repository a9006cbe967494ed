import type { MachineClass, NodeTemplate, SecretData } from "@millwright/core";
import type { DriverOutcome, MachineDriver } from "../model/driver-port.ts";

/** What a question about a class is about, as the caches hold it. */
export interface ClassCall {
  readonly machineClass: MachineClass;
  /** Data of `secretRef` overlaid with that of `credentialsSecretRef`. */
  readonly secret: SecretData;
}

/** The drivers as the controller of capacities sees them. The runtime implements it. */
export interface CapacityDriver extends Pick<MachineDriver, "refusalOf"> {
  /** Whether the driver of a class can say what its nodes will have. Makes no calls. */
  reportsCapacity(machineClass: MachineClass): boolean;
  /** Asks the cloud what a node of a class will have; the answer can stand in the class as it is. */
  capacityOf(call: ClassCall, signal: AbortSignal): Promise<DriverOutcome<NodeTemplate>>;
}
