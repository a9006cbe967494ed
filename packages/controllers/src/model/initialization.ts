import { type Machine, phaseOf, readOperation } from "@millwright/core/machine-api";
import { readIntent } from "./creation-intent.ts";
import type { OperationView } from "./operation.ts";
import { hasId, isProvisioning } from "./provisioning.ts";

/** Whether the last operation is a failed initialization, also one that MCM recorded. */
const hasFailedToInitialize = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" &&
  status.lastOperation.state === "Failed" &&
  readOperation(status).reason === "InitializationFailed";

/** Whether the creation was given up with a failed driver call. A node that did not join in time leaves no code. */
const hasFailedToCreate = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" && (status.lastOperation.errorCode ?? "") !== "";

/** Whether the driver call of the machine shows that its VM is uninitialized. */
function isReportedBy(operation: OperationView | undefined): boolean {
  if (operation?.kind === "initialize") return operation.state !== "done";
  return operation?.state === "done" && operation.result.needsInitialization === true;
}

/**
 * Whether the VM must still be initialized: then its node may be Ready while its pods cannot be reached, as on AWS before the source/destination check is
 * disabled. The intent records it together with the id of the VM, so that it survives a restart; the phase after the creation shows that it is done. Unlike
 * here, MCM makes such a machine Running as soon as its node joins (`pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth).
 */
export function isInitializationDue(machine: Machine, operation: OperationView | undefined): boolean {
  const isCreating = isProvisioning(machine);
  const intent = readIntent(machine);
  if (!hasId(machine) || !(isCreating || phaseOf(machine) === "Failed") || intent?.staleNode !== undefined)
    return false;
  if (hasFailedToInitialize(machine) || isReportedBy(operation)) return true;
  return intent?.needsInitialization === true && (isCreating || hasFailedToCreate(machine));
}
