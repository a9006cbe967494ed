import { holdsOfOwner } from "../guards/owner-guards.ts";
import { unlimited } from "../machine-deployment/state/rollout-gates.ts";
import { sortSets } from "../machine-deployment/state/sets.ts";
import type { MachineDeploymentSnapshot, ObservedDeployment } from "../machine-deployment/state/snapshot.ts";

/** The snapshot of a deployment without gates, or with those that are given. */
export const deploymentSnapshot = (
  observed: Omit<ObservedDeployment, "isSpecValid"> & Partial<MachineDeploymentSnapshot>,
): MachineDeploymentSnapshot => ({
  isSpecValid: observed.problems.length === 0,
  limits: unlimited,
  sets: sortSets(observed.deployment, observed.claim.owned, observed.machines),
  heldBy: holdsOfOwner(observed.deployment, observed.deployment),
  ...observed,
});
