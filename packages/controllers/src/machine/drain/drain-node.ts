import type { Node } from "../../model/node-objects.ts";
import { decideDrain, type DrainProgress } from "../../drain/decide-drain.ts";
import type { DrainTerms, DrainView } from "../../drain/drain-view.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { drainTimeoutMs, evictionTimeMs } from "../../model/timeouts.ts";
import { unusableAfter } from "./force-drain.ts";

/** How the node of a machine is drained. */
export interface NodeDrain {
  readonly view: DrainView;
  /** Wall clock, milliseconds, stored in an object: start of the deadlines. */
  readonly startedAt: number;
  /** Whether a user requested to force it. */
  readonly isDemanded: boolean;
  readonly cordon: boolean;
}

/** The terms of a drain: forced when a user requests it, or when the node has been unusable for too long. */
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
 * Drains the node of a machine: before its VM is deleted, for an in-place update or a preservation. Forced when a user requests it, after the drain timeout, and when the
 * node has been unusable for too long (MCM, `pkg/util/provider/machinecontroller/machine_util.go` inPlaceUpdate; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerDeletionFlow).
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
