import { isMachineErrorCode } from "@millwright/core";
import { machineErrorCodes, type RetryClass } from "@millwright/core/driver-host";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import type { AutoscalerFleet } from "./fleet.ts";
import { instanceErrorClasses, instanceStates, type WireInstance } from "../wire/messages.ts";
import { requestedId } from "./fleet-index.ts";

/** Errors that the autoscaler acts on: it deletes the instance and scales another group. A transient one it does not get. */
const errorClasses: Readonly<Record<RetryClass, number | undefined>> = {
  none: undefined,
  transient: undefined,
  exhausted: instanceErrorClasses.outOfResources,
  persistent: instanceErrorClasses.other,
};

const hasVm = (machine: Machine): boolean => (machine.spec.providerID ?? "") !== "";

/** Whether a Machine is deleted or replaced already, by whatever means. */
export const isEnding = ({ metadata, status }: Machine): boolean =>
  metadata.deletionTimestamp !== undefined || status?.currentStatus?.phase === "Failed";

/** Whether a Machine has a VM that stays. */
export const isFulfilled = (machine: Machine): boolean => hasVm(machine) && !isEnding(machine);

const creating = new Set(["", "Pending", "CrashLoopBackOff"]);

function stateOf({ metadata, status }: Machine): number {
  if (metadata.deletionTimestamp !== undefined) return instanceStates.deleting;
  const isCreating = creating.has(status?.currentStatus?.phase ?? "");
  return isCreating ? instanceStates.creating : instanceStates.running;
}

function errorOf(machine: Machine): WireInstance["status"]["errorInfo"] {
  const { type, errorCode = "", description = "" } = machine.status?.lastOperation ?? {};
  if (hasVm(machine) || type !== "Create" || !isMachineErrorCode(errorCode)) return undefined;
  const instanceErrorClass = errorClasses[machineErrorCodes[errorCode].retry];
  return instanceErrorClass === undefined ? undefined : { errorCode, errorMessage: description, instanceErrorClass };
}

/**
 * The id by which the autoscaler knows the Node of a Machine. It compares whole texts, so it is the Node's own where there is one: an instance whose id no Node
 * has would count as not registered, and be deleted.
 */
function idOf(machine: Machine, nodes: AutoscalerFleet["nodes"]): string {
  const node = nodes?.get(machine.metadata.labels?.[labelKeys.node] ?? "");
  const ofNode = node?.spec?.providerID ?? "";
  if (ofNode !== "") return ofNode;
  return hasVm(machine) ? (machine.spec.providerID ?? "") : requestedId(machine);
}

/** A Machine as an instance of its group. */
export function toInstance(machine: Machine, nodes: AutoscalerFleet["nodes"]): WireInstance {
  const instanceState = stateOf(machine);
  const errorInfo = instanceState === instanceStates.creating ? errorOf(machine) : undefined;
  return {
    id: idOf(machine, nodes),
    status: { instanceState, ...(errorInfo === undefined ? {} : { errorInfo }) },
  };
}
