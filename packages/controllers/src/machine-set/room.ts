import { nameList } from "@millwright/base";
import { type Machine, readOperation } from "@millwright/core/machine-api";
import { countWhere, machinesWhere } from "../machine-lists/machine-list.ts";
import type { Hold } from "../model/hold.ts";
import { isOnDelete } from "../model/on-delete.ts";
import { isReturn, recordedRollout } from "../model/rollout.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

/**
 * Machines that the set of a template on trial may create: one that failed counts until its VM is gone. Otherwise a rollout with a broken template would exceed its surge, and a quota of just that size.
 */
function roomToProve({ set, claim, deployment }: MachineSetSnapshot): number {
  if (deployment === undefined || isOnDelete(deployment)) return Infinity;
  const rollout = recordedRollout(deployment);
  const isOnTrial = rollout?.set === set.metadata.name && !isReturn(rollout);
  return isOnTrial ? Math.max(0, (set.spec.replicas ?? 0) - claim.owned.length) : Infinity;
}

/** Whether a machine cannot be deleted since an API server refuses what its deletion writes. */
const isRefusedDeletion = ({ metadata, status = {} }: Machine): boolean =>
  metadata.deletionTimestamp != null &&
  status.lastOperation?.state === "Failed" &&
  readOperation(status).reason === "WriteRefused";

const roomBesideRefused = ({ set, claim }: MachineSetSnapshot): number =>
  countWhere(claim.owned, isRefusedDeletion) === 0
    ? Infinity
    : Math.max(0, (set.spec.replicas ?? 0) + 1 - claim.owned.length);

/** Machines that a set may create, besides the limit of overshooting. */
export const roomOf = (snapshot: MachineSetSnapshot): number =>
  Math.min(roomToProve(snapshot), roomBesideRefused(snapshot));

/**
 * Why a set creates no more machines whose others cannot be deleted since their writes are refused. One more shows whether only those are refused; further ones would become Failed in the same way, each with
 * a VM that stays.
 */
export function refusedDeletionsHold(snapshot: MachineSetSnapshot): Hold | undefined {
  if (roomBesideRefused(snapshot) > 0) return undefined;
  const names = machinesWhere(snapshot.claim.owned, isRefusedDeletion).map(({ metadata }) => metadata.name);
  const message = `the API server refuses to write Machine ${nameList(names)}, which is being deleted and keeps its VM`;
  return { by: "refused-write", holds: "creation", message, remedy: "" };
}
