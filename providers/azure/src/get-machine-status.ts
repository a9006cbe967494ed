import type { MachineStatusResponse } from "@millwright/core";
import { findVm } from "./vm/find-vm.ts";
import type { AzureRequest, MethodCall } from "./vm/method-call.ts";
import { referenceOf } from "./vm/reference.ts";

/** Finds the VM of a machine. Reads only, in one request as a rule. */
export async function getMachineStatus(request: AzureRequest, call: MethodCall): Promise<MachineStatusResponse> {
  const vm = await findVm(request, call);
  return referenceOf(request.machineClass.spec, vm.name ?? request.machine.name);
}
