import type { MachineDeployment } from "@millwright/core";
import type { SetView } from "../state/set-size.ts";

/**
 * Old sets that the history limit no longer keeps: the oldest of the surplus, and of these only the ones that are empty and idle
 * (MCM, `pkg/controller/deployment_sync.go` cleanupMachineDeployment). Without a limit all are kept.
 */
export function surplusHistory(deployment: MachineDeployment, oldSets: readonly SetView[]): readonly SetView[] {
  const limit = deployment.spec.revisionHistoryLimit;
  if (limit === undefined) return [];
  const alive = oldSets.filter(({ set }) => set.metadata.deletionTimestamp == null);
  return alive
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      ({ set, machines }) =>
        machines.length === 0 &&
        (set.spec.replicas ?? 0) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
