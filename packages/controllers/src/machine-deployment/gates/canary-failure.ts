import {
  annotationKeys,
  eventReasons,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  readOperation,
} from "@millwright/core/machine-api";
import { machinesWhere, predicateFor } from "../../machine-lists/machine-list.ts";
import { isJoinHeld } from "../../model/remediation-budget.ts";
import { isDeleting, isFailed } from "../../model/phase.ts";
import { planRollback } from "../sets/plan-rollback.ts";
import { revisionOf } from "../state/revision.ts";
import { isReturn, type Rollout } from "../../model/rollout.ts";
import { canaryFailureOf } from "../state/rollout.ts";
import { hasSome } from "../state/set-size.ts";
import type { Sets } from "../state/sets.ts";
import type { MachineDeploymentDecision, MachineDeploymentSnapshot } from "../state/snapshot.ts";

/**
 * Whether a machine is Failed, or was before its deletion: its set deletes a Failed machine at once. The outcome of a failed attempt, such as a creation without quota, is an error code: it is repeated, and a machine that
 * is deleted meanwhile was not Failed. One that was deleted before the rollout began failed in an earlier one.
 */
const hasFailed =
  ({ since }: Pick<Rollout, "since">) =>
  (machine: Machine): boolean => {
    if (Date.parse(machine.metadata.deletionTimestamp ?? "") < Date.parse(since)) return false;
    // One that has not joined in time has failed as a canary, also while the remediation budget keeps it from being replaced.
    if (isFailed(machine) || (isJoinHeld(machine) && readOperation(machine.status).hold === "Budget")) return true;
    const last = machine.status?.history?.findLast(({ operation }) => operation !== "Delete");
    return isDeleting(machine) && last?.outcome === "Failed";
  };

/** Whether machines of other templates are left. */
export const hasOldMachines = ({ oldSets }: Sets): boolean => oldSets.some(hasSome);

/** Whether the rollout leads back to the proven template from one that failed: that waits for nothing. */
export const isReturnFromFailure = (rollout: Rollout, { oldSets }: Sets): boolean =>
  isReturn(rollout) && oldSets.some((view) => canaryFailureOf(view.set) !== undefined && hasSome(view));

/**
 * Rolls back to the proven template.
 *
 * @param why added to the message, for users who apply the failed template again and see no machines
 */
function decideCanaryRollback(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  { proven }: Rollout,
  why: string,
): MachineDeploymentDecision | undefined {
  const target = sets.find(({ metadata }) => metadata.name === proven);
  if (target === undefined) return undefined;
  const asked = { ...deployment, spec: { ...deployment.spec, rollbackTo: { revision: revisionOf(target) } } };
  const plan = planRollback(asked, sets);
  if (plan?.because.reason !== eventReasons.deploymentRollback) return undefined;
  const message = `${plan.because.message}: ${why}`;
  return { actions: [{ kind: "PatchDeployment", patch: plan.patch }], because: [{ ...plan.because, message }] };
}

/**
 * Handles the failure of a new machine in a rollout with steps: it is recorded on the new set, which stops the rollout, and the deployment
 * is rolled back if its annotation requests that. `undefined` when nothing failed, or nothing is left to do.
 */
export function decideCanaryFailure({
  deployment,
  claim,
  sets,
  rollout,
}: MachineDeploymentSnapshot): MachineDeploymentDecision | undefined {
  const { annotations = {} } = deployment.metadata;
  const { newSet } = sets;
  if (annotations[annotationKeys.canarySteps] === undefined || newSet === undefined) return undefined;
  if (rollout === undefined || isReturn(rollout)) return undefined;
  const failure = canaryFailureOf(newSet.set);
  if (failure !== undefined) {
    const why = `new machine ${failure} of machine set ${newSet.set.metadata.name} failed; to try that template again, remove annotation ${annotationKeys.canaryFailed} from the set`;
    const returns = annotations[annotationKeys.canaryOnFailure] === "rollback" && deployment.spec.paused !== true;
    return returns ? decideCanaryRollback(deployment, claim.owned, rollout, why) : undefined;
  }
  const { since } = rollout;
  const failed = machinesWhere(newSet.machines, predicateFor(newSet.machines, hasFailed, { since }))[0];
  if (failed === undefined) return undefined;
  const { name } = newSet.set.metadata;
  const patch = { metadata: { annotations: { [annotationKeys.canaryFailed]: failed.metadata.name } } };
  return {
    actions: [{ kind: "PatchMachineSet", name, patch }],
    because: [
      {
        type: "Warning",
        reason: eventReasons.canaryFailed,
        message: `New machine ${failed.metadata.name} of machine set ${name} failed: rollout stopped`,
      },
    ],
  };
}
