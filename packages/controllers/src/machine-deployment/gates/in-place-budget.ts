import { countWhere, machinesWhere } from "../../machine-lists/machine-list.ts";
import { isUnderUpdate } from "../../model/in-place-state.ts";
import { isAvailable, isPresent } from "../../model/phase.ts";
import { nameList } from "@millwright/base";
import { phaseOf, type Machine, rolloutHoldReasons } from "@millwright/core/machine-api";
import { boundsOf } from "../state/rollout-bounds.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";
import { sum } from "../state/set-size.ts";
import { allOf, type Sets } from "../state/sets.ts";
import type { ObservedDeployment } from "../state/snapshot.ts";

/** Whether a machine is missing from those that serve, for another reason than its own update. */
const isLacking = (machine: Machine): boolean =>
  isPresent(machine) && !isAvailable(machine) && !isUnderUpdate(phaseOf(machine));

/** Which machines use up `maxUnavailable`, so that an in-place update selects no node. It limits nothing: the planner counts them, too. */
export function inPlaceBudget({ deployment }: ObservedDeployment, sets: Sets): RolloutGates {
  if (deployment.spec.strategy?.type !== "InPlaceUpdate") return unlimited;
  const views = allOf(sets);
  const { replicas, maxUnavailable } = boundsOf(deployment);
  const isNextHeld = sum(views.map(({ machines }) => countWhere(machines, isAvailable))) <= replicas - maxUnavailable;
  const isNextThere = sets.oldSets.some(({ machines }) => countWhere(machines, isAvailable) > 0);
  const lacking = views.flatMap(({ machines }) => machinesWhere(machines, isLacking));
  if (!isNextHeld || !isNextThere || lacking.length === 0) return unlimited;
  const hold = `Rollout waits for machine ${nameList(lacking.map(({ metadata }) => metadata.name))}, which ${lacking.length === 1 ? "is" : "are"} not available: maxUnavailable is ${maxUnavailable}`;
  return { mayStart: true, holds: [hold], availabilityHolds: [hold], reason: rolloutHoldReasons.machinesUnavailable };
}
