import type { Node } from "../../model/node-objects.ts";
import { decideDrain, type DrainProgress, isForceDue } from "../../drain/decide-drain.ts";
import { type DrainWindow, drainWindow } from "../../drain/drain-window.ts";
import type { DrainTerms, DrainView } from "../../drain/drain-view.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { drainMode, isUnreachable, unusableAfter } from "./force-drain.ts";

/** How the node of a machine is drained. */
export interface NodeDrain {
  readonly view: DrainView;
  /** Wall clock, milliseconds, stored in an object: start of the deadlines. */
  readonly startedAt: number;
  /** Whether a user requested to force it. */
  readonly isDemanded: boolean;
  readonly cordon: boolean;
}

/** A machine whose node is drained. Without `link` both clusters have one clock. */
type DrainedMachine = Pick<MachineSnapshot, "machine" | "settings"> & {
  readonly link?: Pick<MachineSnapshot["link"], "clockAheadMs">;
};

/** The terms of a drain within its window. */
function termsOf(
  { settings, link }: DrainedMachine,
  node: Node,
  { startedAt, isDemanded, cordon }: Omit<NodeDrain, "view">,
  { evictUntil, deadline, resumedUntil }: DrainWindow,
  now: Date,
): DrainTerms {
  return {
    mode: drainMode(node, { isDemanded, resumedUntil }, now),
    startedAt,
    ...(link === undefined ? {} : { clockAheadMs: link.clockAheadMs }),
    evictUntil,
    deadline,
    cordon,
    volumes: { detachMs: settings.pvDetachTimeoutMs, reattachMs: settings.pvReattachTimeoutMs },
  };
}

/** The terms of a drain for a reader that does not carry it out. */
export const previewTerms = (
  snapshot: DrainedMachine,
  node: Node,
  drain: Omit<NodeDrain, "view">,
  now: Date,
): DrainTerms =>
  termsOf(snapshot, node, drain, drainWindow({ ...snapshot, node, startedAt: drain.startedAt }, now), now);

/** A machine whose drain this process carries out. */
type DrainingMachine = DrainedMachine & Pick<MachineSnapshot, "drainObservedSince">;

/** The window of a drain that this process carries out. */
const windowOf = (
  { machine, settings, drainObservedSince }: DrainingMachine,
  node: Node,
  { startedAt }: Pick<NodeDrain, "startedAt">,
  now: Date,
): DrainWindow =>
  drainWindow({ machine, settings, node, startedAt, observedSince: drainObservedSince ?? now.getTime() }, now);

/** The terms of a drain that this process carries out. */
export const drainTerms = (
  snapshot: DrainingMachine,
  node: Node,
  drain: Omit<NodeDrain, "view">,
  now: Date,
): DrainTerms => termsOf(snapshot, node, drain, windowOf(snapshot, node, drain, now), now);

/**
 * Nothing of an unreachable node is forced while its VM may be running: pods that are deleted by force start elsewhere, and with those of the VM there would be two writers. A machine that is being
 * deleted skips such a drain, and its VM is deleted first; an update in place and a preservation keep the VM.
 */
const withheldIfUnreachable = (terms: DrainTerms, node: Node, now: Date): DrainTerms =>
  isForceDue(terms, now) && isUnreachable(node) ? { ...terms, mode: "withheld" } : terms;

/**
 * Drains the node of a machine: before its VM is deleted, for an in-place update or a preservation. Forced when a user requests it, after the drain timeout, and when the
 * node has been unusable for too long (MCM, `pkg/util/provider/machinecontroller/machine_util.go` inPlaceUpdate; MCM, `pkg/util/provider/machinecontroller/machine.go` triggerDeletionFlow).
 */
export function drainNode(snapshot: DrainingMachine, { view, ...drain }: NodeDrain, now: Date): DrainProgress {
  const nowMs = now.getTime();
  const window = windowOf(snapshot, view.node, drain, now);
  const isRecordDue = nowMs >= window.recordAt;
  const terms = withheldIfUnreachable(termsOf(snapshot, view.node, drain, window, now), view.node, now);
  const progress = decideDrain(view, isRecordDue ? { ...terms, clock: window.clock } : terms, now);
  if (progress.state === "drained") return progress;
  const unusableAt = Math.max(unusableAfter(view.node), window.resumedUntil);
  const nextTimes = [unusableAt + 1, ...(isRecordDue ? [] : [window.recordAt])].filter((at) => at > nowMs);
  return { ...progress, requeueAfterMs: Math.min(progress.requeueAfterMs, ...nextTimes.map((at) => at - nowMs)) };
}
