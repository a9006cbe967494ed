import type { MachineDeploymentStatus } from "@millwright/core/machine-api";
import { countWhere } from "../machine-lists/machine-list.ts";
import { isKeptInService, isPreservedFailure, isReadyInService } from "../model/phase.ts";
import { type DeploymentFacts, mcmConditions, viewsOf } from "./mcm-conditions.ts";
import type { Counters } from "./progress.ts";
import { boundsOf } from "./state/rollout-bounds.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";
import { countAvailable, sum } from "./state/set-size.ts";

const countersOf = (facts: DeploymentFacts): Counters => {
  const { newSet } = facts;
  const sets = viewsOf(facts);
  const available = sum(sets.map((view) => countAvailable(view) + countWhere(view.machines, isKeptInService)));
  return {
    // Terminating machines count: Gardener compares these with the number of Machine objects.
    replicas: sum(sets.map(({ machines }) => machines.length)),
    updatedReplicas: newSet?.machines.length ?? 0,
    readyReplicas: sum(sets.map(({ machines }) => countWhere(machines, isReadyInService))),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets.map(({ set }) => set.spec.replicas ?? 0)) - available),
  };
};

/**
 * Status of a deployment, from the machines and sets that exist. `observedGeneration` is not updated while the spec is invalid:
 * it is the only sign of that which Gardener reads.
 */
export function machineDeploymentStatus(facts: DeploymentFacts, now: Date): MachineDeploymentStatus {
  const { deployment, problems } = facts;
  const { failedMachines: _, ...kept } = deployment.status ?? {};
  const views = viewsOf(facts);
  const failed = views.flatMap(({ set }) => set.status?.failedMachines ?? []);
  const counters = countersOf(facts);
  const preserved = sum(views.map(({ machines }) => countWhere(machines, isPreservedFailure)));
  return {
    ...kept,
    ...counters,
    preservedFailedReplicas: preserved,
    ...(failed.length > 0 ? { failedMachines: failed } : {}),
    ...(problems.length === 0 && deployment.metadata.generation !== undefined
      ? { observedGeneration: deployment.metadata.generation }
      : {}),
    conditions: mcmConditions(facts, counters, preserved, now),
  };
}

/** The status that goes with a snapshot. `createdSet` is the name of the set that this reconcile creates. */
export function statusOf(
  { deployment, problems, isSpecValid, sets, limits, heldBy }: MachineDeploymentSnapshot,
  createdSet: string | undefined,
  now: Date,
): MachineDeploymentStatus {
  const maxUnavailable = isSpecValid ? boundsOf(deployment).maxUnavailable : undefined;
  return machineDeploymentStatus(
    {
      deployment,
      ...sets,
      createdSet,
      maxUnavailable,
      problems,
      heldBy,
      // The deadline is about machines that do not become available.
      holds: limits.holds?.filter((hold) => limits.availabilityHolds?.includes(hold) !== true),
      blocksCreation: limits.blocksCreation,
    },
    now,
  );
}
