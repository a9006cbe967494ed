import {
  type DrainRule,
  type OperationEvent,
  readOperation,
  type Taint,
  taintEffects,
  taintKeys,
} from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import { stayingPods } from "../../drain/pod-verdict.ts";
import type { MachineAction } from "../state/decision.ts";
import { deletionStart } from "../../model/timeouts.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Kubernetes needs about a minute to notice that a node is dead and to release its pods and volumes. The deletion of the node object waits no longer: without
 * the node, pods are still garbage collected and volumes detached, only later. Milliseconds.
 */
const RELEASE_MS = 60_000;

/**
 * The event by which the driver's report that the VM does not exist is stored, if it reported that: to this process or in the status of the machine. Otherwise pods may still run and
 * write.
 */
export function vmEndOf({ machine, operation }: MachineSnapshot): OperationEvent | undefined {
  const [deleted, notFound] = [{ reason: "VmDeleted" }, { reason: "VmNotFound" }] as const;
  if (operation?.kind === "delete" && operation.state === "done") return deleted;
  if (operation?.kind === "delete" && operation.state === "failed")
    return operation.code === "NotFound" ? notFound : undefined;
  const reported = readOperation(machine.status);
  return [deleted, notFound].find(({ reason }) => reason === reported.reason);
}

/** The out-of-service taint; Kubernetes requires it before it releases volumes that a dead kubelet cannot unmount. */
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
  // A merge patch replaces lists: it requires the observed version.
  const metadata = resourceVersion === undefined ? {} : { resourceVersion };
  const patch = { metadata, spec: { taints: [...taints, outOfService] } };
  return [{ kind: "PatchNode", name, patch, mayFail: true }];
}

/** Resources on a dead node, and what to do about them; `undefined` when there are none, or the wait is over. */
export interface LeftoverResources {
  readonly actions: readonly MachineAction[];
  readonly requeueAfterMs: number;
}

/** Whether pods that a drain waits for are on the node. */
export const hasStayingPods = (
  { pods, link: { clockAheadMs } }: MachineSnapshot,
  node: Node,
  rules: readonly DrainRule[],
  startedAt: number,
  now: Date,
): boolean =>
  stayingPods({ node, pods, rules, evictions: new Map() }, { cordon: true, startedAt, clockAheadMs }, now).length > 0;

/** Whether pods that are not of the node itself, or volumes, are on the node. */
export function holdsResources(snapshot: MachineSnapshot, node: Node, now: Date): boolean {
  return snapshot.attachments.length > 0 || hasStayingPods(snapshot, node, [], deletionStart(snapshot), now);
}

/**
 * Finds pods and volumes on a node whose VM was deleted.
 *
 * @param since wall clock, milliseconds: start of this stage; `undefined` when the deletion has just reached it
 */
export function leftoverResources(
  snapshot: MachineSnapshot,
  node: Node,
  since: number | undefined,
  now: Date,
): LeftoverResources | undefined {
  const leftMs = (since ?? now.getTime()) + RELEASE_MS - now.getTime();
  if (!holdsResources(snapshot, node, now) || leftMs <= 0 || vmEndOf(snapshot) === undefined) return undefined;
  return { actions: taint(node, now), requeueAfterMs: leftMs };
}
