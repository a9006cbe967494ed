import type { RolloutGates } from "@millwright/controllers/decisions";
import { annotationKeys, type MachineDeployment } from "@millwright/core";

/** What holds the rollout of a deployment back at a time, in a world where nothing happens any more. */
export type LimitsAt = (deployment: MachineDeployment, at: Date) => RolloutGates | undefined;

/** Windows open and close for ever, whatever comes of it; the other limits that time changes are passed once. */
function withoutWindows(deployment: MachineDeployment): MachineDeployment {
  const { [annotationKeys.maintenanceWindows]: _, ...annotations } = deployment.metadata.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/**
 * When a rollout came to a stand that nothing moves any more: at the last that happened, or later, when the last canary step or settling machine after that had had
 * its time without more coming of it.
 *
 * @param lastAt when something happened last
 * @param end how far it was looked at
 */
export function settledAt(deployment: MachineDeployment, limitsAt: LimitsAt, lastAt: Date, end: Date): Date {
  const atAnyHour = withoutWindows(deployment);
  let at = lastAt;
  for (;;) {
    const passesAt = limitsAt(atAnyHour, at)?.requeueAt;
    if (passesAt === undefined || passesAt <= at || passesAt > end) return at;
    at = passesAt;
  }
}

/**
 * Whether nothing will ever move again once nothing moves at a time: no limit changes by itself but for windows, and they are open. A rollout that an open window
 * does not move no later one does, however many a year has.
 */
export function isStable(deployment: MachineDeployment, limitsAt: LimitsAt, at: Date): boolean {
  const { requeueAt, holds: atAnyHour = [] } = limitsAt(withoutWindows(deployment), at) ?? {};
  const { holds = [] } = limitsAt(deployment, at) ?? {};
  return requeueAt === undefined && holds.length === atAnyHour.length;
}
