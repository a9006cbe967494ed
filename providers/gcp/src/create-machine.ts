import type { CreateMachineResponse } from "@millwright/core";
import { adopt, existing } from "./launch/adopt.ts";
import type { Launch } from "./launch/launch.ts";
import { makeVm } from "./launch/make-vm.ts";
import { requireClusterTags } from "./spec/cluster-keys.ts";
import type { CreateRequest, MethodCall } from "./vm/method-call.ts";
import { referenceOf } from "./vm/vm.ts";

/** Makes the VM of a machine, or finds the one that an earlier try has made. */
export async function createMachine(request: CreateRequest, call: MethodCall): Promise<CreateMachineResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  requireClusterTags(machineClass.spec.tags);
  const launch: Launch = {
    spec: machineClass.spec,
    project: call.session.project,
    machine,
    machineClass: machineClass.name,
    userData,
    token: idempotencyToken,
  };
  const there = await existing(request, call);
  return referenceOf(there === undefined ? await makeVm(launch, request, call) : await adopt(there, launch, call));
}
