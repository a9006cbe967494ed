import { MachineError } from "@millwright/core";
import { isMissing, hasErrorReason } from "../api/gce-failure.ts";
import { hasFailed, isTargetMissing, operationError } from "../api/operation.ts";
import type { DiskResource, Place } from "../api/requests.ts";
import { isScratch } from "../spec/disks.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { GcpRequest, MethodCall } from "./method-call.ts";
import { keptDiskLabel, labelValueOf, ownerLabelKeys } from "./owner-tags.ts";
import { readProviderId } from "./provider-id.ts";
import { untilDone } from "./until-done.ts";
import type { Vm } from "./vm.ts";

/** A disk of the driver that is not attached to a VM. */
export interface LeftoverDisk {
  readonly name: string;
  /** UID of the machine that it was created for, from the label. */
  readonly machineUid: string;
  /** Namespace of that machine, from the label; empty without it. */
  readonly namespace: string;
  /** Token of its creation, from the label. */
  readonly token: string;
  /** Whether the class keeps it when the VM is deleted. */
  readonly isKept: boolean;
}

/** Reads a disk; undefined for one that is attached or has no machine. */
function readLeftoverDisk({ name, labels, users }: DiskResource): LeftoverDisk | undefined {
  const machineUid = labels?.[ownerLabelKeys.machineUid] ?? "";
  if (!name || machineUid === "" || (users ?? []).length > 0) return undefined;
  return {
    name,
    machineUid,
    namespace: labels?.[ownerLabelKeys.namespace] ?? "",
    token: labels?.[ownerLabelKeys.token] ?? "",
    isKept: labels?.[keptDiskLabel] !== undefined,
  };
}

/** Whether disks may remain when a VM is deleted: fewer are deleted with it than its class has. Those that were attached later do not count. */
export function mayHaveLeftoverDisks({ instance }: Vm, { disks }: GcpSpec): boolean {
  const going = (instance.disks ?? []).filter(({ autoDelete, type }) => autoDelete === true && type !== "SCRATCH");
  return going.length < disks.filter((disk) => !isScratch(disk)).length;
}

/**
 * Whether a disk was created for the VM that a machine's provider id names, regardless of its UID: a restored machine has another UID, and a deleted VM no longer shows the former
 * one. Compute Engine names the first disk of a VM like the VM, and the others with their numbers.
 */
export function isOfNamedVm({ name, namespace }: LeftoverDisk, { machine, machineClass }: GcpRequest): boolean {
  const { providerId = "" } = machine;
  if (providerId === "" || (namespace !== "" && namespace !== labelValueOf(machine.namespace))) return false;
  const vmName = readProviderId(providerId).name;
  return (
    vmName === machine.name &&
    machineClass.spec.disks.some((_, index) => name === (index === 0 ? vmName : `${vmName}-${index}`))
  );
}

/**
 * Deletes unattached disks of the driver in a zone. Attempts all of them, so that one failure does not affect the others.
 *
 * @param isMeant which of them
 * @returns the names of the deleted disks
 */
export async function removeLeftoverDisks(
  place: Place,
  isMeant: (disk: LeftoverDisk) => boolean,
  call: MethodCall,
): Promise<readonly string[]> {
  const disks = await call.session.disks(place, call.context);
  const left = disks.flatMap((disk) => readLeftoverDisk(disk) ?? []).filter(isMeant);
  const outcomes = await Promise.allSettled(left.map(({ name }) => removeDisk(place, name, call)));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return left.map(({ name }) => name);
}

async function removeDisk(place: Place, name: string, call: MethodCall): Promise<void> {
  const { session, context, random } = call;
  try {
    const begun = await session.api.deleteDisk(place, name, random.uuid(), context.signal);
    const done = await untilDone(begun, place, call);
    if (hasFailed(done) && !isTargetMissing(done)) {
      throw operationError(done, `deleting disk ${name} in ${place.zone} (${place.project})`);
    }
  } catch (error) {
    if (isMissing(error, `disks/${name}`)) return;
    // It is attached again: the next attempt sees that.
    const isTaken = hasErrorReason(error, "resourceInUseByAnotherResource", "resourceNotReady");
    throw isTaken ? new MachineError("Aborted", `disk ${name}: ${error.message}`, { cause: error }) : error;
  }
}
