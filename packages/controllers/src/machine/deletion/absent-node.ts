import { deletionEvents, labelKeys, type OperationEvent } from "@millwright/core/machine-api";
import type { MachineAction } from "../state/decision.ts";
import { deletionStart, drainTimeoutMs } from "../../model/timeouts.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { hasUndrainedPods } from "./unreachable-node.ts";

/** A stage waits, for as long as a Node may change what it decides. */
interface NodeWait {
  readonly next: "stay";
  readonly happened?: OperationEvent;
  readonly actions?: readonly MachineAction[];
  readonly requeueAfterMs: number;
  readonly isBrief?: boolean;
}

/** The name of the Node of a machine when there is no such Node; `undefined` where there is one, whichever VM it belongs to, or the machine names none. */
export function absentNodeOf({
  machine,
  node,
  link: { foreignNode },
}: Pick<MachineSnapshot, "machine" | "node" | "link">): string | undefined {
  const name = machine.metadata.labels?.[labelKeys.node] ?? "";
  return node !== undefined || foreignNode !== undefined || name === "" ? undefined : name;
}

/** Whether a Node is waited for no longer: a user forces the deletion, or the drain timeout is over. Its API server may be unreachable for ever. */
const isWaitOver = (snapshot: MachineSnapshot, now: Date): boolean =>
  isForceDeletion(snapshot.machine) || now.getTime() > deletionStart(snapshot) + drainTimeoutMs(snapshot);

/** The read of a Node enqueues the machine, and so do its pods; this is the fallback. */
const CHECK_MS = 5_000;

/**
 * Reads the Node before its pods lose their drain. The cache may be minutes behind: a node that is missing in it may have joined, and one that is not ready may have recovered. Nothing when it was read just
 * now.
 */
export function readNodeFirst(
  snapshot: MachineSnapshot,
  now: Date,
): (NodeWait & { readonly actions: readonly MachineAction[] }) | undefined {
  const { unreadNode } = snapshot.link;
  if (unreadNode === undefined || isWaitOver(snapshot, now)) return undefined;
  const actions = [{ kind: "ReadNode", name: unreadNode }] as const;
  return { next: "stay", actions, requeueAfterMs: CHECK_MS, isBrief: true };
}

/**
 * Waits while pods that a drain waits for name a Node that does not exist: the object may be absent only for a moment, such as during a restore, or after its finalizer was removed, and its VM runs the pods. When the
 * Node is back, it is drained. While it stays absent, Kubernetes deletes its pods within about a minute (Kubernetes, `pkg/controller/podgc/gc_controller.go`).
 */
export function waitForAbsentNode(snapshot: MachineSnapshot, now: Date): NodeWait | undefined {
  const name = absentNodeOf(snapshot);
  if (name === undefined || isWaitOver(snapshot, now)) return undefined;
  if (!hasUndrainedPods(snapshot, { metadata: { name } }, now)) return undefined;
  return { next: "stay", happened: deletionEvents.nodeAbsent(name), requeueAfterMs: CHECK_MS };
}

/** That the drain was skipped, as a note for as long as the Node is absent: when it is back, it may have pods. */
export function skippedDrain(snapshot: MachineSnapshot): OperationEvent | undefined {
  const nodeName = absentNodeOf(snapshot);
  return nodeName === undefined ? undefined : { reason: "NodeVanished", nodeName };
}
