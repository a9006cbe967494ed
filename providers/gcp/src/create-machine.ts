import type { CreateMachineResponse, PendingResponse } from "@millwright/core";
import { adopt, existing } from "./launch/adopt.ts";
import type { Launch } from "./launch/launch.ts";
import { createVm } from "./launch/create-vm.ts";
import { requireClusterTags } from "./spec/cluster-keys.ts";
import type { CreateRequest, MethodCall } from "./vm/method-call.ts";
import { orPending } from "./vm/or-pending.ts";
import { referenceOf } from "./vm/vm.ts";

/** Creates the VM of a machine, or finds the one that an earlier attempt has created. Pending while that takes Compute Engine longer than a call. */
export async function createMachine(
  request: CreateRequest,
  call: MethodCall,
): Promise<CreateMachineResponse | PendingResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  requireClusterTags(machineClass.spec.tags);
  const { project } = call.session;
  const launch: Launch = {
    spec: machineClass.spec,
    project,
    machine,
    machineClass: machineClass.name,
    userData,
    token: idempotencyToken,
  };
  return orPending(`Compute Engine is still creating VM ${machine.name} (${project})`, call, async (waiting) => {
    const there = await existing(request, waiting);
    return referenceOf(
      there === undefined ? await createVm(launch, request, waiting) : await adopt(there, launch, waiting),
    );
  });
}
