import {
  deletionProtectedConditionType as type,
  deletionProtectedReasons as reasons,
  eventReasons,
  type Machine,
} from "@millwright/core";
import { type Condition, type ConditionState, findCondition } from "@millwright/kube";
import { isProtected, protectedMachinesMessage, protectedOwnerMessage } from "../model/deletion-protection.ts";
import type { Reason } from "../model/decision.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

const ofMachines = (machines: readonly Machine[]): ConditionState | undefined =>
  machines.length === 0
    ? undefined
    : {
        type,
        status: "True",
        reason: reasons.machinesProtected,
        message: protectedMachinesMessage(machines.map(({ metadata }) => metadata.name)),
      };

/**
 * The condition DeletionProtected of a set, if it has one.
 *
 * @param kept of a set that is not terminating: machines that would be deleted if they were not protected
 */
export function protectedState(
  { set, claim, protectedBy }: MachineSetSnapshot,
  kept: readonly Machine[] = [],
): ConditionState | undefined {
  if (set.metadata.deletionTimestamp == null) return ofMachines(kept);
  if (claim.owned.length === 0) return undefined;
  return protectedBy === undefined
    ? ofMachines(claim.owned.filter(isProtected))
    : { type, status: "True", reason: reasons.objectProtected, message: protectedOwnerMessage(protectedBy) };
}

/** The event about the condition, unless it was reported before. */
export function protectedEvents(
  state: ConditionState | undefined,
  before: readonly Condition[] | undefined,
): readonly Reason[] {
  if (state === undefined || findCondition(before ?? [], type)?.message === state.message) return [];
  return [{ type: "Warning", reason: eventReasons.deletionProtected, message: state.message }];
}
