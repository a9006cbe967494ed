import { finalizers, type MachineDeployment } from "@millwright/core";
import { refusalOf } from "../conditions/spec-valid.ts";
import { decideCreation, decideSets, deletionOf } from "./decide-sets.ts";
import { oldestFirst } from "./find-new-set.ts";
import { planRollback } from "./plan-rollback.ts";
import { planSizes } from "./plan-sizes.ts";
import { untilDeadline } from "./progress.ts";
import {
  boundsOf,
  type MachineDeploymentAction,
  type MachineDeploymentDecision,
  type MachineDeploymentSnapshot,
  statusOf,
  viewSets,
} from "./snapshot.ts";

const hasFinalizer = (deployment: MachineDeployment): boolean =>
  deployment.metadata.finalizers?.includes(finalizers.machine) === true;

/** A deployment on its way out takes its sets with it and waits for the last; its spec no longer matters. */
function decideDeletion(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim } = snapshot;
  if (!hasFinalizer(deployment)) return { actions: [], because: [] };
  if (claim.owned.length === 0) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  const actions = oldestFirst(claim.owned)
    .filter(({ metadata }) => metadata.deletionTimestamp == null)
    .map(deletionOf);
  return { actions, status: statusOf(snapshot, viewSets(snapshot), undefined, now), because: [] };
}

/** Sets change hands before anything is counted. */
function decideClaims({ claim }: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  return [
    ...claim.adopt.map(({ metadata: { name } }): MachineDeploymentAction => ({ kind: "AdoptMachineSet", name })),
    ...claim.release.map(({ metadata: { name } }): MachineDeploymentAction => ({ kind: "ReleaseMachineSet", name })),
  ];
}

/** Follows the spec: rollback first, then scaling or the strategy's next step. */
function decideRollout(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim } = snapshot;
  const rollback = deployment.spec.paused === true ? undefined : planRollback(deployment, claim.owned);
  if (rollback !== undefined) {
    return { actions: [{ kind: "PatchDeployment", patch: rollback.patch }], because: [rollback.because] };
  }
  const sets = viewSets(snapshot);
  const bounds = boundsOf(deployment);
  const sizes = planSizes(snapshot, sets, bounds);
  return sizes === "create the new set"
    ? decideCreation(snapshot, sets, bounds, now)
    : decideSets(snapshot, sets, sizes, bounds, now);
}

/**
 * Decides the next step of a MachineDeployment. Deletion comes before validation, so that an object that became invalid can still go
 * (machineset-machinedeployment.md, F4).
 */
export function decideMachineDeployment(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, problems } = snapshot;
  if (deployment.metadata.deletionTimestamp != null) return decideDeletion(snapshot, now);
  if (problems.length > 0) {
    const status = statusOf(snapshot, viewSets(snapshot), undefined, now);
    return { actions: [], status, because: refusalOf(problems, deployment.status?.conditions) };
  }
  if (!hasFinalizer(deployment)) return { actions: [{ kind: "AddFinalizer" }], because: [] };
  const claims = decideClaims(snapshot);
  if (claims.length > 0) return { actions: claims, because: [] };
  const decision = decideRollout(snapshot, now);
  const wakeAfterMs = untilDeadline(deployment, now);
  return wakeAfterMs === undefined ? decision : { ...decision, wakeAfterMs: Math.max(0, wakeAfterMs) };
}
