import { createMockDriver } from "./driver.ts";

export { CloudError, isCloudError } from "./cloud-error.ts";
export type { CloudErrorCode, CloudErrorOptions } from "./cloud-error.ts";
export { createCloudClient } from "./cloud-client.ts";
export type { CloudClientOptions } from "./cloud-client.ts";
export { createCloudServer } from "./cloud-server.ts";
export type { CloudServer, CloudServerOptions } from "./cloud-server.ts";
export { cloudOperations } from "./cloud-operation.ts";
export type { CloudOperation } from "./cloud-operation.ts";
export { powerActions } from "./cloud.ts";
export type { CallOptions, ChangeCursor, CreateVmInput, MockCloud, PowerAction, VmChanges, VmFilter } from "./cloud.ts";
export type { CloudCall } from "./call-gate.ts";
export { createMockDriver, mockCsiDriver } from "./driver.ts";
export type { MockDriverOptions } from "./driver.ts";
export type { Fault, FaultRule } from "./fault.ts";
export { machineTypeNames, machineTypes } from "./machine-type.ts";
export type { MachineTypeCapacity, MachineTypeName } from "./machine-type.ts";
export { managedBy, ownerTagKeys } from "./owner-tags.ts";
export { createSimulatedCloud } from "./simulated-cloud.ts";
export type { SimulatedCloud, SimulatedCloudOptions } from "./simulated-cloud.ts";
export { mockSpecSchema } from "./spec.ts";
export type { MockSpec } from "./spec.ts";
export type { CloudSnapshot } from "./vm-record.ts";
export { watchVms } from "./watch-vms.ts";
export type { WatchVmsOptions } from "./watch-vms.ts";
export { isLive, vmStates } from "./vm.ts";
export type { Vm, VmState } from "./vm.ts";

/** The driver of the simulated cloud that the class secret names. Loaded by name at run time. */
export default createMockDriver();
