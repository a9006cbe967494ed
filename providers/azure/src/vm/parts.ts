import type { Disk } from "@azure/arm-compute";
import type { NetworkInterface } from "@azure/arm-network";
import { MachineError } from "@millwright/core";
import { allOrAbort } from "@millwright/core/driver-kit";
import { toMachineError } from "../api/errors.ts";
import { machineOfDisk, machineOfNic } from "./machine-of-part.ts";
import type { AzureRequest, MethodCall } from "./method-call.ts";
import { isSameName, nameInId } from "./names.ts";
import { isOwnedBy, type Tags } from "./owner-tags.ts";

/** NICs and disks that were made for a machine. */
export interface Parts {
  readonly nics: readonly NetworkInterface[];
  readonly disks: readonly Disk[];
}

/** The parts of a machine besides its VM: identified by name or tag, and never without the tags of cluster and role. */
export async function partsOf(request: AzureRequest, vmName: string, call: MethodCall): Promise<Parts> {
  const { session, context } = call;
  const { resourceGroup } = request.machineClass.spec;
  const [nics, disks] = await allOrAbort(context, [
    (own) => session.nics(resourceGroup, own),
    (own) => session.disks(resourceGroup, own),
  ]);
  return {
    nics: nics.filter(({ name = "", tags }) => isOf(request, vmName, call, tags, machineOfNic(name, tags))),
    disks: ownDisks(request, vmName, call, disks),
  };
}

/** Those of some disks that were made for a machine. */
export function ownDisks(
  request: AzureRequest,
  vmName: string,
  call: MethodCall,
  disks: readonly Disk[],
): readonly Disk[] {
  const { dataDisks } = request.machineClass.spec.properties.storageProfile;
  return disks.filter(({ name = "", tags }) => isOf(request, vmName, call, tags, machineOfDisk(name, tags, dataDisks)));
}

const isOf = (
  { machine }: AzureRequest,
  vmName: string,
  { keys }: MethodCall,
  tags: Tags | undefined,
  madeFor: string | undefined,
): boolean => isSameName(madeFor, vmName) && isOwnedBy({ vmName, tags }, keys, machine);

/**
 * Deletes NICs and disks. All are tried, so that one that cannot be does not keep the others.
 *
 * @throws MachineError with the code of the first failure, and the messages of all
 */
export async function removeParts(group: string, { nics, disks }: Parts, call: MethodCall): Promise<void> {
  const { api } = call.session;
  const { signal } = call.context;
  const removals = [
    ...nics.map(({ name = "", virtualMachine, provisioningState }) => ({
      what: `NIC "${name}"`,
      holder: virtualMachine?.id,
      provisioningState,
      settled: () => api.settledNic(group, name, signal),
      remove: () => api.deleteNic(group, name, signal),
    })),
    ...disks.map(({ name = "", managedBy, provisioningState }) => ({
      what: `disk "${name}"`,
      holder: managedBy,
      provisioningState,
      settled: () => api.settledDisk(group, name, signal),
      remove: () => api.deleteDisk(group, name, signal),
    })),
  ];
  const outcomes = await Promise.allSettled(
    removals.map(async ({ what, holder, provisioningState, settled, remove }) => {
      // It goes with its VM, which is gone before it.
      if (provisioningState === "Deleting" && (await settled()) === undefined) return;
      if (holder !== undefined && holder !== "") {
        throw new MachineError("Aborted", `${what} cannot be deleted: VM "${nameInId(holder)}" still has it`);
      }
      try {
        await remove();
      } catch (error) {
        throw toMachineError(error, signal, `deleting ${what}`);
      }
    }),
  );
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [toMachineError(outcome.reason, signal, "deleting what is left")] : [],
  );
  const [first] = failures;
  if (first === undefined) return;
  const waits = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  throw new MachineError(first.code, failures.map(({ message }) => message).join("; "), {
    cause: first,
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
  });
}
