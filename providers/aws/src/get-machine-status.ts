import { MachineError, type MachineStatusResponse } from "@millwright/core";
import { findVm } from "./vm/find-vm.ts";
import type { AwsRequest, MethodCall } from "./vm/method-call.ts";
import { pendingInitialization } from "./vm/pending-initialization.ts";
import { referenceOf } from "./vm/vm.ts";

/** Finds the VM of a machine. Reads only, in one request as a rule. */
export async function getMachineStatus(request: AwsRequest, call: MethodCall): Promise<MachineStatusResponse> {
  const vm = await findVm(request, call);
  if (vm.nodeName === "") {
    throw new MachineError(
      "Unavailable",
      `VM ${vm.id} has no private DNS name yet; check that DNS hostnames are enabled in its VPC`,
    );
  }
  const { uncheckedCards, missingPrefixes } = pendingInitialization(request.machineClass.spec, vm.instance);
  return { ...referenceOf(vm), initialized: uncheckedCards.length === 0 && missingPrefixes.length === 0 };
}
