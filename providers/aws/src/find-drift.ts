import type { FindDriftResponse } from "@millwright/core";
import { differencesOf } from "./drift/differences.ts";
import { findVm } from "./vm/find-vm.ts";
import type { AwsRequest, MethodCall } from "./vm/method-call.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** Compares the VM of a machine with its class, as far as EC2 shows it. */
export async function findDrift(request: AwsRequest, call: MethodCall): Promise<FindDriftResponse> {
  const { id, region, instance, tags } = await findVm(request, call);
  return {
    providerId: providerIdOf(region, id),
    differences: differencesOf(request.machineClass.spec, instance, tags),
  };
}
