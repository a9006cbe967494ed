import { isKnownRejected, type OperationResult, type PendingOperation } from "@millwright/controllers";
import type { Clock } from "@millwright/base";
import { isMachineError, MachineError } from "@millwright/core";
import { hiddenVm, type Machine } from "@millwright/core/machine-api";
import type { DeletionReply } from "./check-reply.ts";

/**
 * For how long a cloud may hide a VM that it has accepted, milliseconds: the API of EC2 is eventually consistent, and its documents advise to retry for minutes
 * (https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html).
 */
const VISIBLE_MS = 120_000;

/** Time between two looks for a VM that may be hidden, milliseconds. */
const LOOK_AGAIN_MS = 10_000;

/** A machine whose VM was known for this long was not created just now, milliseconds: longer than creations take. */
const SETTLED_MS = 1_800_000;

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/** When the last creation succeeded, wall clock in milliseconds, where nothing was recorded about a creation since. */
function createdAt({ status }: Machine): number | undefined {
  const last = status?.lastOperation;
  if (last?.type === "Create" && last.state !== "Processing")
    return last.state === "Successful" ? timeOf(last.lastUpdateTime) : undefined;
  const entry = status?.history?.findLast(({ operation }) => operation === "Create");
  return entry?.outcome === "Successful" ? timeOf(entry.time) : undefined;
}

/**
 * Until when reads may not show a VM that was requested for the machine, wall clock in milliseconds; 0 for no such VM. From times in the object alone, so that a restart
 * changes nothing: the creation that succeeded, or else the deletion, since creations may have been repeated until then.
 */
export function mayBeHiddenUntil(machine: Machine): number {
  const { metadata, spec } = machine;
  if (isKnownRejected(machine)) return 0;
  const succeededAt = createdAt(machine);
  if (succeededAt !== undefined) return succeededAt + VISIBLE_MS;
  const created = timeOf(metadata.creationTimestamp);
  const deleted = timeOf(metadata.deletionTimestamp) || created;
  const isSettled = (spec.providerID ?? "") !== "" && deleted - created > SETTLED_MS;
  return deleted === 0 || isSettled ? 0 : deleted + VISIBLE_MS;
}

/** What {@link confirmDeletion} asks. */
export interface DeletionCalls {
  /** Deletes the VM: the driver's reply, or that it is pending. */
  readonly remove: () => Promise<DeletionReply | PendingOperation>;
  /** Finds the VM; rejects with `MachineError` NotFound when there is none. */
  readonly find: () => Promise<{ readonly providerId?: string }>;
}

const hasCode = (error: unknown, ...codes: readonly string[]): error is MachineError =>
  isMachineError(error) && codes.includes(error.code);

/** @throws MachineError Internal when the VM still exists */
async function rejectFound(machine: Machine, find: DeletionCalls["find"]): Promise<void> {
  const found = await find().catch((error: unknown) => {
    if (hasCode(error, "NotFound", "Unimplemented")) return undefined;
    throw error;
  });
  if (found !== undefined)
    throw new MachineError(
      "Internal",
      `VM ${found.providerId ?? ""} of machine "${machine.metadata.name}" still exists after its deletion`,
    );
}

/**
 * Deletes a VM, and asks once whether it is deleted unless the driver has read it itself: a wrong answer of a driver would orphan the VM. A VM that is not found although it may
 * just have been requested is looked for again.
 *
 * @throws MachineError Internal when the VM still exists, NotFound when the driver found none, and whatever the driver throws
 */
export async function confirmDeletion(
  machine: Machine,
  { remove, find }: DeletionCalls,
  clock: Clock,
): Promise<OperationResult | PendingOperation> {
  let missing: MachineError | undefined;
  let reply: DeletionReply = {};
  try {
    const answer = await remove();
    if ("pending" in answer) return answer;
    reply = answer;
  } catch (error) {
    if (!hasCode(error, "NotFound")) throw error;
    missing = error;
  }
  const { vm, showsNewVms = false, ...result } = reply;
  if (vm === "ended") return { ...result, isEndSeen: true };
  await rejectFound(machine, find);
  const wasFound = missing === undefined && vm !== "missing" && (machine.spec.providerID ?? "") !== "";
  const leftMs = wasFound || showsNewVms ? 0 : mayBeHiddenUntil(machine) - clock.now().getTime();
  if (leftMs > 0) {
    return { pending: { message: hiddenVm, checkAfterMs: Math.min(LOOK_AGAIN_MS, leftMs) } };
  }
  if (missing !== undefined) throw missing;
  return vm === "missing" ? { ...result, isMissing: true } : result;
}
