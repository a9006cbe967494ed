import { deletionEvents, type Taint, taintEffects, taintKeys } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import { stayingPods } from "../../drain/staying-pods.ts";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Kubernetes needs a minute to see that a node is dead, and lets go of what is on it then. The node object does not wait longer than that: without it, pods are collected and
 * volumes detached as well, only later. Milliseconds.
 */
const RELEASE_MS = 60_000;

/** Whether the driver's final word is that there is no VM: of this process, or as it stands in the machine. Otherwise pods may still run and write. */
function isVmDeleted({ machine, operation }: MachineSnapshot): boolean {
  if (operation?.kind === "delete" && operation.state === "done") return true;
  if (operation?.kind === "delete" && operation.state === "failed") return operation.code === "NotFound";
  const description = machine.status?.lastOperation?.description ?? "";
  return [deletionEvents.vmDeleted(), deletionEvents.vmNotFound()].some((text) => description.startsWith(text));
}

/** The taint that says so; Kubernetes asks for it before it frees volumes that a dead kubelet cannot unmount. */
function taint(node: Node, now: Date): readonly MachineAction[] {
  const taints = node.spec?.taints ?? [];
  if (taints.some(({ key }) => key === taintKeys.outOfService)) return [];
  const outOfService: Taint = {
    key: taintKeys.outOfService,
    value: "nodeshutdown",
    effect: taintEffects.noExecute,
    timeAdded: apiTime(now),
  };
  const { name, resourceVersion } = node.metadata;
  // A list is replaced whole: the patch holds for the version that was seen.
  const metadata = resourceVersion === undefined ? {} : { resourceVersion };
  const patch = { metadata, spec: { taints: [...taints, outOfService] } };
  return [{ kind: "PatchNode", name, patch, mayFail: true }];
}

/** What a dead node still holds, and what is done about it; `undefined` when it holds nothing, or has been waited for long enough. */
export interface LeftoverResources {
  readonly actions: readonly MachineAction[];
  readonly requeueAfterMs: number;
}

/**
 * Looks for pods and volumes that a VM left behind when it was deleted under them.
 *
 * @param since wall clock, milliseconds: since when the deletion is at this stage; `undefined` when it only just gets there
 */
export function leftoverResources(
  snapshot: MachineSnapshot,
  node: Node,
  since: number | undefined,
  now: Date,
): LeftoverResources | undefined {
  const { pods, attachments } = snapshot;
  const isHeld = attachments.length > 0 || stayingPods({ pods, rules: [] }, now).length > 0;
  const leftMs = (since ?? now.getTime()) + RELEASE_MS - now.getTime();
  if (!isHeld || leftMs <= 0 || !isVmDeleted(snapshot)) return undefined;
  return { actions: taint(node, now), requeueAfterMs: leftMs };
}
