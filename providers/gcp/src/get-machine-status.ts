import { MachineError, type MachineStatusResponse } from "@millwright/core";
import { findVm } from "./vm/find-vm.ts";
import type { GcpRequest, MethodCall } from "./vm/method-call.ts";
import { isStarting, isStopping, referenceOf } from "./vm/vm.ts";

/** Finds the VM of a machine. Reads only, in one request as a rule. */
export async function getMachineStatus(request: GcpRequest, call: MethodCall): Promise<MachineStatusResponse> {
  const vm = await findVm(request, call);
  const isKnown = (request.machine.providerId ?? "") !== "";
  // A VM that is found counts as created, and this one may vanish yet: createMachine waits for its operation.
  if (!isKnown && isStarting(vm)) {
    throw new MachineError("NotFound", `VM ${vm.name} is still being created (${vm.status})`);
  }
  if (!isKnown && isStopping(vm)) {
    throw new MachineError("Unavailable", `VM ${vm.name} is being stopped, suspended or deleted (${vm.status})`);
  }
  return referenceOf(vm);
}
