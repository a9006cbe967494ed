import { type Clock, wallTimeOf } from "@millwright/base";
import type { Machine } from "@millwright/core/machine-api";
import type { ReadonlyStore } from "@millwright/kube";
import type { ObservedSince } from "../model/timeouts.ts";

interface Entry {
  /** The phase, and since when the status reports it. */
  readonly phase: string;
  /** Times of the monotonic clock. */
  readonly machineMs: number;
  readonly phaseMs: number;
}

const phaseKeyOf = ({ status }: Machine): string => {
  const { phase = "", lastUpdateTime = "" } = status?.currentStatus ?? {};
  return `${phase}/${lastUpdateTime}`;
};

/**
 * Records when this process first observed each machine and its phase, by the monotonic clock. The times in objects may have been written with other clocks,
 * or before one of them jumped, so no timeout expires by them alone. Kubernetes counts the grace period of nodes in the same way
 * (kubernetes/kubernetes, `pkg/controller/nodelifecycle/node_lifecycle_controller.go`, `nodeHealthData`). A standby observes as well: only a restart of all processes restarts timeouts.
 */
export function createObservedTimes(
  machines: Pick<ReadonlyStore<Machine>, "subscribe">,
  clock: Pick<Clock, "now" | "monotonicMs">,
) {
  const entries = new Map<string, Entry>();
  machines.subscribe((old, current) => {
    const { uid } = current?.metadata ?? {};
    if (old?.metadata.uid !== undefined && old.metadata.uid !== uid) entries.delete(old.metadata.uid);
    if (current === undefined || uid === undefined) return;
    const phase = phaseKeyOf(current);
    const known = entries.get(uid);
    if (known?.phase === phase) return;
    const nowMs = clock.monotonicMs();
    entries.set(uid, { phase, machineMs: known?.machineMs ?? nowMs, phaseMs: nowMs });
  });
  return {
    /** Undefined for a machine that is not in the cache. */
    of(uid: string): ObservedSince | undefined {
      const entry = entries.get(uid);
      if (entry === undefined) return undefined;
      return { machine: wallTimeOf(clock, entry.machineMs), phase: wallTimeOf(clock, entry.phaseMs) };
    },
  };
}
