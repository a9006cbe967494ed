import { annotationKeys, finalizers } from "@millwright/core/machine-api";
import { removeFinalizerPatch } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";
import type { Node } from "../model/node-objects.ts";

/** What a reconcile of a Node sees. */
export interface NodeSnapshot {
  readonly node: Node;
  /** How many Machines may be those of the Node. */
  readonly machines: number;
  /** Since when this process has seen the Node without Machine, milliseconds; `undefined` when it has one. */
  readonly withoutForMs: number | undefined;
  /** Whether this process marked the Node before. */
  readonly isMarkedByUs: boolean;
  /** Why the list of Machines proves nothing. */
  readonly doubt: string | undefined;
  readonly creationTimeoutMs: number;
}

/** A conditional merge patch of the Node. */
export interface PatchUnmanagedNode {
  readonly kind: "PatchNode";
  readonly patch: object;
  readonly marks: boolean;
}

/** A Machine that is missing for a moment, such as one that is being restored, is not gone. Milliseconds. */
export const missingForMs = 5 * 60_000;

/** How soon a doubt is looked at again, milliseconds. */
const DOUBT_CHECK_MS = 60_000;

/** What MCM writes. */
const MARK = "1";

const nothing: Decision<PatchUnmanagedNode, never> = { actions: [], because: [] };

const isMarked = ({ metadata }: Node): boolean => metadata.annotations?.[annotationKeys.notManaged] !== undefined;

const hasFinalizer = ({ metadata }: Node): boolean => metadata.finalizers?.includes(finalizers.node) === true;

/** A patch applies only to the version that was read: other clients write Nodes, too. */
const markPatch = ({ metadata }: Node, mark: string | null): object => ({
  metadata: {
    resourceVersion: metadata.resourceVersion,
    annotations: { [annotationKeys.notManaged]: mark },
  },
});

/** The patch of a Node without Machine: the finalizer would keep it for ever once it is deleted. */
function patchOf(node: Node): object {
  const marked = markPatch(node, MARK);
  if (!hasFinalizer(node)) return marked;
  const { metadata } = removeFinalizerPatch(node, finalizers.node);
  return isMarked(node)
    ? { metadata }
    : { metadata: { ...metadata, annotations: { [annotationKeys.notManaged]: MARK } } };
}

/**
 * Decides about a Node without Machine: after the creation timeout it gets MCM's annotation, and our finalizer is removed (MCM, `pkg/util/provider/machinecontroller/machine_safety.go`
 * AnnotateNodesUnmanagedByMCM). The annotation is removed when the Node has a Machine. Unlike MCM, a process does this once for each Node: where the machines of two namespaces join one cluster, each
 * would take back what the other has done, for ever.
 */
export function decideUnmanagedNode(snapshot: NodeSnapshot, now: Date): Decision<PatchUnmanagedNode, never> {
  const { node, machines, withoutForMs = 0, isMarkedByUs, doubt, creationTimeoutMs } = snapshot;
  if (machines === 1 && isMarked(node))
    return { actions: [{ kind: "PatchNode", patch: markPatch(node, null), marks: false }], because: [] };
  if (machines > 0 || isMarkedByUs || (isMarked(node) && !hasFinalizer(node))) return nothing;
  // A Node that an API server stores always has the time.
  const ageMs = now.getTime() - Date.parse(String(node.metadata.creationTimestamp));
  const waitMs = Math.max(creationTimeoutMs - ageMs, missingForMs - withoutForMs);
  if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
  if (doubt !== undefined) return { ...nothing, requeueAfterMs: DOUBT_CHECK_MS };
  return { actions: [{ kind: "PatchNode", patch: patchOf(node), marks: true }], because: [] };
}
