import { type NodeCondition, nodeConditionTypes } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { decideDrain, type DrainProgress } from "../../drain/decide-drain.ts";
import type { DrainTerms, DrainView } from "../../drain/drain-view.ts";
import { conditionOf } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { drainTimeoutMs, evictionTimeMs } from "../../model/timeouts.ts";

/** A node that has been unusable for so long is not asked any more. */
const UNUSABLE_MS = 5 * 60_000;

const sinceOf = (condition: NodeCondition | undefined, good: string): number => {
  const since =
    condition === undefined || condition.status === good ? Number.NaN : Date.parse(condition.lastTransitionTime ?? "");
  return Number.isNaN(since) ? Number.POSITIVE_INFINITY : since;
};

/** Wall clock, milliseconds, after which nothing on a node can be expected to end in order: not ready, or its disk read-only, for too long. */
const unusableAfter = (node: Node): number =>
  UNUSABLE_MS +
  Math.min(
    sinceOf(conditionOf(node, nodeConditionTypes.ready), "True"),
    sinceOf(conditionOf(node, nodeConditionTypes.readonlyFilesystem), "False"),
  );

/** How the node of a machine is drained. */
export interface NodeDrain {
  readonly view: DrainView;
  /** Wall clock, milliseconds, from an object: the deadlines count from it. */
  readonly startedAt: number;
  /** Whether somebody asked to force it. */
  readonly isDemanded: boolean;
  readonly cordon: boolean;
}

/** Under which terms a node is drained: forced when somebody asks for it, and when the node itself, as it is now, has been unusable for too long. */
export function drainTerms(
  snapshot: Pick<MachineSnapshot, "machine" | "settings">,
  node: Node,
  { startedAt, isDemanded, cordon }: Omit<NodeDrain, "view">,
  now: Date,
): DrainTerms {
  const { settings } = snapshot;
  return {
    mode: isDemanded || now.getTime() > unusableAfter(node) ? "force" : "normal",
    startedAt,
    evictUntil: startedAt + evictionTimeMs(snapshot),
    deadline: startedAt + drainTimeoutMs(snapshot),
    cordon,
    volumes: { detachMs: settings.pvDetachTimeoutMs, reattachMs: settings.pvReattachTimeoutMs },
  };
}

/**
 * Drains the node of a machine: before its VM is deleted, for an update in place or a preservation. Forced when somebody asks for it, after the drain timeout, and when the
 * node itself, as the cache has it now, has been unusable for too long (MCM, `pkg/util/provider/machinecontroller/machine_util.go` inPlaceUpdate; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerDeletionFlow).
 */
export function drainNode(
  snapshot: Pick<MachineSnapshot, "machine" | "settings">,
  { view, ...drain }: NodeDrain,
  now: Date,
): DrainProgress {
  const progress = decideDrain(view, drainTerms(snapshot, view.node, drain, now), now);
  return progress.state === "drained"
    ? progress
    : { ...progress, requeueAfterMs: Math.min(progress.requeueAfterMs, unusableAfter(view.node) - now.getTime() + 1) };
}
