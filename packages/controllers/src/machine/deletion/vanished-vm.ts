import { deletionEvents, type OperationEvents } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { hasId } from "../../model/provisioning.ts";
import type { OperationView } from "../../model/operation.ts";
import { isUnreachable } from "../drain/force-drain.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { doubtAboutEnd } from "./missing-vm.ts";

/** Time between two look-ups of a VM whose Node is not ready, milliseconds. After five minutes, the drain ends in any case. */
const LOOK_MS = 60_000;

/** A look-up of the VM during a drain. */
interface VmLookUp {
  /** What was found out, when the VM does not exist. */
  readonly vanished?: OperationEvents;
  readonly actions: readonly MachineAction[];
  readonly requeueAfterMs: number;
}

const noLookUp: VmLookUp = { actions: [], requeueAfterMs: Number.POSITIVE_INFINITY };

/** The last look-up that has ended; it found the VM, or failed. */
const endedLookUp = (operation: OperationView | undefined) =>
  operation?.kind === "find" && (operation.state === "done" || operation.state === "failed") ? operation : undefined;

/**
 * Looks for the VM of a drain as soon as its Node is not ready: without VM no pod can leave it gracefully, and Kubernetes releases pods and volumes once that is confirmed. The deletion of the VM follows, and confirms
 * it.
 */
export function lookForVm(snapshot: MachineSnapshot, node: Node, now: Date): VmLookUp {
  const { machine, classView, operation } = snapshot;
  const isDue = isUnreachable(node) && hasId(machine) && classView.state === "usable";
  if (!isDue || operation?.state === "running") return noLookUp;
  const last = endedLookUp(operation);
  const leftMs = (last?.endedAt ?? 0) + LOOK_MS - now.getTime();
  if (leftMs <= 0) return { ...noLookUp, actions: [{ kind: "StartOperation", operation: "find" }] };
  const isMissing = last?.state === "failed" && last.code === "NotFound" && doubtAboutEnd(snapshot, last) === undefined;
  if (!isMissing) return { ...noLookUp, requeueAfterMs: leftMs };
  const { name } = node.metadata;
  const found = deletionEvents.vmNotFoundOfUnreadyNode(machine.spec.providerID, name);
  return { ...noLookUp, vanished: [found, { reason: "NodeUnreachable", nodeName: name }] };
}
