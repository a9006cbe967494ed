import type { RolloutGates } from "@millwright/controllers/decisions";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";

/** The gates of a rollout at a time, in a model in which nothing else changes. */
export type GatesAt = (deployment: MachineDeployment, at: Date) => RolloutGates | undefined;

/** Windows open and close for ever; the other gates that depend on time open once. */
function withoutWindows(deployment: MachineDeployment): MachineDeployment {
  const { [annotationKeys.maintenanceWindows]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/**
 * When a rollout became stable: at the last change, or later, when the time of the last canary step or minReadySeconds after it
 * passed without effect.
 *
 * @param lastAt time of the last change
 * @param end end of the simulation
 */
export function settledAt(deployment: MachineDeployment, gatesAt: GatesAt, lastAt: Date, end: Date): Date {
  const outsideWindows = withoutWindows(deployment);
  let at = lastAt;
  for (;;) {
    const opensAt = gatesAt(outsideWindows, at)?.requeueAt;
    if (opensAt === undefined || opensAt <= at || opensAt > end) return at;
    at = opensAt;
  }
}

/**
 * Whether a rollout that does not change now never will: no gate depends on time except windows, and they are open. A rollout that does not progress in an open
 * window does not progress in a later one either.
 */
export function isStable(deployment: MachineDeployment, gatesAt: GatesAt, at: Date): boolean {
  const { requeueAt, holds: holdsWithoutWindows = [] } = gatesAt(withoutWindows(deployment), at) ?? {};
  const { holds = [] } = gatesAt(deployment, at) ?? {};
  return requeueAt === undefined && holds.length === holdsWithoutWindows.length;
}
