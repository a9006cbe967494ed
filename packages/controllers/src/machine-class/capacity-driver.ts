import type { MachineClass, NodeTemplate } from "@millwright/core/machine-api";
import type { ClassCall, DriverOutcome, MachineDriver } from "../model/driver-port.ts";

/** The drivers as the capacity controller uses them. The runtime implements it. */
export interface CapacityDriver extends Pick<MachineDriver, "missingDriver"> {
  /** Whether the driver of a class can report the capacity of its nodes. Makes no calls. */
  reportsCapacity(machineClass: MachineClass): boolean;
  /** Requests the capacity of a class's nodes from the cloud; the result is a valid `nodeTemplate`. */
  capacityOf(call: ClassCall, signal: AbortSignal): Promise<DriverOutcome<NodeTemplate>>;
}
