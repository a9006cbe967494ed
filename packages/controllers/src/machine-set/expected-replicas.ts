import { annotationKeys, type Machine, type MachineSet, phaseOf } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { countWhere } from "../machine-lists/machine-list.ts";
import type { Hold } from "../model/hold.ts";
import { isPresent } from "../model/phase.ts";
import type { MachineCrd, MachineSetSnapshot } from "./snapshot.ts";

const positive = /^[1-9]\d{0,8}$/;

/** How many machines a set had when a CRD was deleted, and waits for; `undefined` when it waits for none. */
export function expectedReplicasOf({ metadata }: Pick<MachineSet, "metadata">): number | undefined {
  const text = metadata.annotations?.[annotationKeys.expectedReplicas] ?? "";
  return positive.test(text) ? Number(text) : undefined;
}

/** Marks a set that was restored from a file: how many machines it had is not known. */
const UNKNOWN = "unknown";

/** Merge patch of the mark. */
export const unverifiedPatch = { metadata: { annotations: { [annotationKeys.expectedReplicas]: UNKNOWN } } } as const;

/** Whether a set was restored from a file, and may have machines that are missing: the VMs of its class are listed before it creates others. */
export const isUnverified = ({ metadata }: Pick<MachineSet, "metadata">): boolean =>
  metadata.annotations?.[annotationKeys.expectedReplicas] === UNKNOWN;

/** The CRD of machines, as a set depends on it. */
export function machineCrdOf({ crdGuard }: Pick<ControllerContext, "crdGuard">): MachineCrd {
  const crd = crdGuard?.stateOf("Machine");
  return {
    isDeletionAllowed: crd !== undefined && "isDeletionAllowed" in crd && crd.isDeletionAllowed,
    isTerminating: crd?.state === "terminating",
  };
}

/** Whether a person approves that other machines are created, or the missing ones forgotten. */
const isLossApproved = ({ set, claim, budget }: Pick<MachineSetSnapshot, "set" | "claim" | "budget">): boolean =>
  budget?.isApproved === true ||
  (budget?.approved?.work === "creations" && missingOf({ set, claim }) <= budget.approved.left);

/** Whether the missing machines are gone with their VMs. Of those that are held no VM is without Machine. */
const areVmsGone = ({
  claim: { lost = [] },
  hasNoOwnerlessVms = false,
}: Pick<MachineSetSnapshot, "claim" | "hasNoOwnerlessVms">): boolean => hasNoOwnerlessVms && lost.length === 0;

/** Whether a set lacks machines that exist, and are held. The record may be older than some of them. */
const waitsForHeld = ({ set, claim: { owned, lost = [] } }: Pick<MachineSetSnapshot, "set" | "claim">): boolean =>
  lost.length > 0 && countWhere(owned, isPresent) < (set.spec.replicas ?? 0);

/**
 * Whether a set waits for machines that are missing. Those beyond its replicas are not expected any more, and those that were deleted since are not where no VM is without Machine.
 */
export function lacksExpectedMachines(
  snapshot: Pick<MachineSetSnapshot, "set" | "claim" | "machineCrd" | "budget" | "hasNoOwnerlessVms" | "lostVms">,
): boolean {
  const { set, claim, machineCrd, lostVms } = snapshot;
  if (machineCrd?.isDeletionAllowed === true || isLossApproved(snapshot)) return false;
  if (isUnverified(set)) {
    const isVerified = lostVms?.state === "known" && lostVms.count === 0;
    return countWhere(claim.owned, isPresent) < (set.spec.replicas ?? 0) && !isVerified;
  }
  const recorded = expectedReplicasOf(set);
  if (recorded === undefined) return false;
  const expected = Math.min(recorded, set.spec.replicas ?? 0);
  return waitsForHeld(snapshot) || (countWhere(claim.owned, isPresent) < expected && !areVmsGone(snapshot));
}

/** How many of the machines that a set had are missing, also where it was scaled down meanwhile: their VMs may run; 0 without a record. */
export const missingOf = ({ set, claim }: Pick<MachineSetSnapshot, "set" | "claim">): number =>
  Math.max(0, (expectedReplicasOf(set) ?? 0) - countWhere(claim.owned, isPresent));

/** Whether nothing has to be waited for any more, so that the record can be removed. A set that is scaled down keeps it: the VMs of its lost machines wait for a person. */
export function isArrived(snapshot: Parameters<typeof lacksExpectedMachines>[0]): boolean {
  const { set, machineCrd } = snapshot;
  if (isUnverified(set)) return !lacksExpectedMachines(snapshot);
  if (expectedReplicasOf(set) === undefined) return false;
  const isAllowed = machineCrd?.isDeletionAllowed === true || isLossApproved(snapshot);
  return isAllowed || (!waitsForHeld(snapshot) && (missingOf(snapshot) === 0 || areVmsGone(snapshot)));
}

/** The hold of a set that waits for machines: it creates none in their place, and deletes none. */
export const restoreHold: Hold = {
  by: "restore",
  holds: "everything",
  message: `waiting for machines that existed before a CRD was deleted or the API server was restored; to create new ones, remove annotation ${annotationKeys.expectedReplicas}`,
  remedy: `Restore the machines, or remove annotation ${annotationKeys.expectedReplicas} to create new ones`,
};

/**
 * Records the machines that a set has, once; those in phase Terminating are deleted for another reason and do not count. Some may have been deleted before this process observed the set:
 * its status still counts them.
 */
export function expectedReplicasPatch(
  set: MachineSet,
  owned: readonly Machine[],
): Readonly<Record<string, unknown>> | undefined {
  const leaving = owned.filter((machine) => phaseOf(machine) === "Terminating").length;
  const count = Math.max(owned.length, set.status?.replicas ?? 0) - leaving;
  if (count <= 0 || set.metadata.annotations?.[annotationKeys.expectedReplicas] !== undefined) return undefined;
  return { metadata: { annotations: { [annotationKeys.expectedReplicas]: String(count) } } };
}

/**
 * Records the machines of a set that lacks some, and those that vanished from it; `undefined` when none did, or that is recorded.
 *
 * @param isScaledDown their VMs run, and the set was scaled down meanwhile: they wait for a person all the same
 */
export function vanishedPatch(
  set: MachineSet,
  owned: readonly Machine[],
  vanished: number,
  isScaledDown: boolean,
): Readonly<Record<string, unknown>> | undefined {
  if (vanished === 0 || expectedReplicasOf(set) !== undefined) return undefined;
  const present = countWhere(owned, isPresent);
  if (!isScaledDown && present >= (set.spec.replicas ?? 0)) return undefined;
  const count = present + vanished;
  return { metadata: { annotations: { [annotationKeys.expectedReplicas]: String(count) } } };
}

/** Records that a set lacks machines whose VMs run. */
export const lostPatch = ({ spec }: MachineSet): Readonly<Record<string, unknown>> => ({
  metadata: { annotations: { [annotationKeys.expectedReplicas]: String(spec.replicas ?? 0) } },
});

/** Removes the record. */
export const noExpectedReplicasPatch = {
  metadata: { annotations: { [annotationKeys.expectedReplicas]: null } },
} as const;
