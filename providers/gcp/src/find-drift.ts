import type { FindDriftResponse } from "@millwright/core";
import { differencesOf } from "./drift/differences.ts";
import { findVm } from "./vm/find-vm.ts";
import type { GcpRequest, MethodCall } from "./vm/method-call.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** Compares the VM of a machine with its class, as far as Compute Engine shows it. */
export async function findDrift(request: GcpRequest, call: MethodCall): Promise<FindDriftResponse> {
  const { place, name, instance } = await findVm(request, call);
  const disks = await call.session.disks(place, call.context);
  return {
    providerId: providerIdOf(place, name),
    differences: differencesOf(request.machineClass.spec, instance, disks),
  };
}
