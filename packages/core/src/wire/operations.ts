/**
 * Values of `status.lastOperation.type`, read by Gardener, dashboards and the MachineSet controller.
 * Source: MCM, `pkg/apis/machine/v1alpha1/machine_types.go` LastOperation. `Update` exists on the wire and is never written.
 */
export const operationTypes = ["Create", "Update", "InPlaceUpdate", "DrainNode", "HealthCheck", "Delete"] as const;

/** What a machine's last operation was about. */
export type OperationType = (typeof operationTypes)[number];

/**
 * Values of `status.lastOperation.state`. `Failed` puts a machine into `status.failedMachines` of its set, which Gardener
 * reports as an error. Source: MCM, `pkg/apis/machine/v1alpha1/machine_types.go` LastOperation; MCM, `pkg/controller/deployment_machineset_util.go` calculateMachineSetStatus.
 */
export const operationStates = ["Processing", "Failed", "Successful"] as const;

/** How far the last operation of a machine is. */
export type OperationState = (typeof operationStates)[number];
