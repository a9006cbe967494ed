import { annotationKeys, eventReasons, type Machine, type MachineDeployment, type MachineSet } from "@millwright/core";
import { machinesWhere } from "../../machine-lists/machine-list.ts";
import { availableSince } from "../../machine-lists/available-since.ts";
import { isDeleting, isFailed } from "../../model/phase.ts";
import { canaryFailureOf } from "./canary-steps.ts";
import { planRollback } from "../sets/plan-rollback.ts";
import { revisionOf } from "../sets/revision.ts";
import { availableMachines, type SetView } from "../state/set-size.ts";
import type { Sets } from "../state/sets.ts";
import type { MachineDeploymentDecision, MachineDeploymentSnapshot } from "../state/snapshot.ts";

/**
 * Whether a machine is Failed, or was before its deletion: its set deletes a Failed machine at once. The outcome of a failed attempt, such as a creation without quota, is an error code: it is repeated, and a machine that
 * is deleted meanwhile was not Failed.
 */
function hasFailed(machine: Machine): boolean {
  if (isFailed(machine)) return true;
  const last = machine.status?.history?.findLast(({ operation }) => operation !== "Delete");
  return isDeleting(machine) && last?.outcome === "Failed";
}

const hasSome = ({ set, machines }: SetView): boolean => (set.spec.replicas ?? 0) > 0 || machines.length > 0;

/** Whether machines of other templates are left. */
export const hasOldMachines = ({ oldSets }: Sets): boolean => oldSets.some(hasSome);

/** Whether the current template is an earlier one, after one that failed: a template that is known to work needs no steps and no waiting. */
export const isRollbackFromFailedCanary = ({ newSet, oldSets }: Sets): boolean =>
  newSet !== undefined &&
  oldSets.some(
    (view) =>
      canaryFailureOf(view.set) !== undefined &&
      hasSome(view) &&
      (newSet.set.metadata.creationTimestamp ?? "") < (view.set.metadata.creationTimestamp ?? ""),
  );

/**
 * Whether the current template is the one that the rollout was replacing: one of its machines has served since before the remaining sets were
 * created. A revert needs no steps, and should be fast.
 */
export function isRevert({ newSet, oldSets }: Sets): boolean {
  if (newSet === undefined || canaryFailureOf(newSet.set) !== undefined) return false;
  const first = availableMachines(newSet)[0];
  return (
    first !== undefined &&
    oldSets.filter(hasSome).every(({ set }) => availableSince(first) < Date.parse(set.metadata.creationTimestamp ?? ""))
  );
}

/**
 * Rolls back to the newest template that did not fail.
 *
 * @param why added to the message, for users who apply the failed template again and see no machines
 */
function decideCanaryRollback(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  why: string,
): MachineDeploymentDecision | undefined {
  const revision = Math.max(0, ...sets.filter((set) => canaryFailureOf(set) === undefined).map(revisionOf));
  if (revision === 0) return undefined;
  const plan = planRollback({ ...deployment, spec: { ...deployment.spec, rollbackTo: { revision } } }, sets);
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
}: MachineDeploymentSnapshot): MachineDeploymentDecision | undefined {
  const { annotations = {} } = deployment.metadata;
  const { newSet } = sets;
  if (annotations[annotationKeys.canarySteps] === undefined || newSet === undefined || !hasOldMachines(sets))
    return undefined;
  if (isRollbackFromFailedCanary(sets) || isRevert(sets)) return undefined;
  const failure = canaryFailureOf(newSet.set);
  if (failure !== undefined) {
    const why = `new machine ${failure} of machine set ${newSet.set.metadata.name} failed; to try that template again, remove annotation ${annotationKeys.canaryFailed} from the set`;
    const returns = annotations[annotationKeys.canaryOnFailure] === "rollback" && deployment.spec.paused !== true;
    return returns ? decideCanaryRollback(deployment, claim.owned, why) : undefined;
  }
  const failed = machinesWhere(newSet.machines, hasFailed)[0];
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
