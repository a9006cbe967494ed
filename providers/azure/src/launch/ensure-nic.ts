import { MachineError } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { isSameName, nameInId, nicNameOf } from "../vm/names.ts";
import { isOfCluster, isOwnedBy } from "../vm/owner-tags.ts";
import type { Launch } from "./launch.ts";
import { nicInput } from "./part-inputs.ts";

/** Makes the NIC of a VM, unless there is a good one of an earlier try. */
export async function ensureNic({ spec, machine, vmName, ...launch }: Launch, call: MethodCall): Promise<void> {
  const { session, context, keys } = call;
  const name = nicNameOf(vmName);
  const found = (await session.nics(spec.resourceGroup, context)).find((nic) => isSameName(nic.name, name));
  const isOwn = found !== undefined && isOwnedBy({ vmName, tags: found.tags }, keys, machine);
  if (found !== undefined && !isOwn && !isOfCluster(found.tags, keys)) {
    throw new MachineError(
      "AlreadyExists",
      `NIC "${name}" of another owner exists in resource group "${spec.resourceGroup}"; delete it first`,
    );
  }
  const holder = found?.virtualMachine?.id ?? "";
  if (holder !== "" && !isSameName(nameInId(holder), vmName)) {
    throw new MachineError("FailedPrecondition", `NIC "${name}" is attached to VM "${nameInId(holder)}"`);
  }
  if (isOwn && found.provisioningState === "Succeeded") return;
  try {
    await session.api.putNic(spec.resourceGroup, name, nicInput({ spec, machine, vmName, ...launch }), context.signal);
  } catch (error) {
    throw toMachineError(error, context.signal, `creating NIC "${name}" in subnet "${spec.subnetInfo.subnetName}"`);
  }
}
