import type { FindDriftResponse } from "@millwright/core";
import { differencesOf } from "./drift/differences.ts";
import { findVm } from "./vm/find-vm.ts";
import type { AzureRequest, MethodCall } from "./vm/method-call.ts";
import { isSameName, nicNameOf } from "./vm/names.ts";
import { providerIdOf } from "./vm/provider-id.ts";

/** Compares the VM of a machine with its class, as far as Azure shows it. */
export async function findDrift(request: AzureRequest, call: MethodCall): Promise<FindDriftResponse> {
  const vm = await findVm(request, call);
  const { spec } = request.machineClass;
  const nics = await call.session.nics(spec.resourceGroup, call.context);
  const name = vm.name ?? request.machine.name;
  return {
    providerId: providerIdOf(spec.location, name),
    differences: differencesOf(
      spec,
      vm,
      nics.find((nic) => isSameName(nic.name, nicNameOf(name))),
    ),
  };
}
