import { annotationKeys, finalizers, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { isOrphaning } from "@millwright/kube";
import { heldEvents } from "../deletion-budget/held-condition.ts";
import { invalidSpecEvents } from "../conditions/spec-valid.ts";
import { expectedReplicasOf } from "../machine-set/expected-replicas.ts";
import { machinesWhere } from "../machine-lists/machine-list.ts";
import { hasMark } from "../model/scale-in-mark.ts";
import { isProtected } from "../model/deletion-protection.ts";
import { holdOn } from "../model/hold.ts";
import { eventsOfHold } from "../model/hold-condition.ts";
import { planDeploymentFreeze } from "../safety/freeze-deployment.ts";
import { decideCanaryFailure } from "./gates/canary-failure.ts";
import { decideNodes } from "./nodes/decide-nodes.ts";
import { decideCreation, decideAwaitedSizes, decideSets, deletionOf } from "./decide-sets.ts";
import { oldestFirst } from "./state/sets.ts";
import { planRollback } from "./sets/plan-rollback.ts";
import { planScalerMarks } from "./nodes/plan-scaler-marks.ts";
import { planPausedSizes, planSizes } from "./plan-sizes.ts";
import { untilDeadline } from "./progress.ts";
import type { RolloutGates } from "./state/rollout-gates.ts";
import type {
  MachineDeploymentAction,
  MachineDeploymentDecision,
  MachineDeploymentSnapshot,
} from "./state/snapshot.ts";
import { statusOf } from "./status.ts";
import { boundsOf } from "./state/rollout-bounds.ts";

const hasFinalizer = (deployment: MachineDeployment): boolean =>
  deployment.metadata.finalizers?.includes(finalizers.machine) === true;

/** Cleans the nodes of a deployment that is deleted without its sets: no controller would do so later. Unread nodes are waited for. */
function decideOrphaning(snapshot: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  if (holdOn(snapshot.heldBy, "replacement") !== undefined) return [];
  const nodes = decideNodes(snapshot, { select: [], isKeptFromScaler: false, isOver: true });
  if (nodes.length > 0) return [{ kind: "PatchNodes", nodes }];
  // Those that the garbage collector did not see.
  return snapshot.orphaning === "released"
    ? snapshot.claim.owned.map(({ metadata: { name } }) => ({ kind: "OrphanMachineSet", name }))
    : [];
}

/** Only in the version that was read: a set that the garbage collector has released meanwhile, of a deployment that is deleted without its sets, is kept. */
function deletionWithDeployment(set: MachineSet): MachineDeploymentAction {
  const { resourceVersion } = set.metadata;
  return { ...deletionOf(set), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

/** A terminating deployment deletes its sets and waits for the last; its spec no longer matters. One that is protected waits with its finalizer, so that the garbage collector deletes nothing. */
function decideDeletion(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim } = snapshot;
  if (!hasFinalizer(deployment)) return { actions: [], because: [] };
  const held = holdOn(snapshot.heldBy, "deletion");
  if (held !== undefined)
    return {
      actions: [],
      status: statusOf(snapshot, undefined, now),
      because: eventsOfHold(deployment.status?.conditions, held),
    };
  if (claim.owned.length === 0) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  const actions =
    snapshot.orphaning !== undefined || isOrphaning(deployment)
      ? decideOrphaning(snapshot)
      : oldestFirst(claim.owned)
          .filter(({ metadata }) => metadata.deletionTimestamp == null)
          .map(deletionWithDeployment);
  return { actions, status: statusOf(snapshot, undefined, now), because: [] };
}

/** Sets are adopted and released before anything is counted. */
function decideClaims({ claim }: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  return [
    ...claim.adopt.map(({ metadata: { name } }): MachineDeploymentAction => ({ kind: "AdoptMachineSet", name })),
    ...claim.release.map(({ metadata: { name } }): MachineDeploymentAction => ({ kind: "ReleaseMachineSet", name })),
  ];
}

/** Synchronizes the freeze of the deployment with that of its sets, the sets first. Such a reconcile does nothing else. */
function decideFreezeSync({ deployment, claim }: MachineDeploymentSnapshot): readonly MachineDeploymentAction[] {
  const freeze = planDeploymentFreeze(deployment, claim.owned);
  return [
    ...[...freeze.sets].map(([name, patch]): MachineDeploymentAction => ({ kind: "PatchMachineSet", name, patch })),
    ...(freeze.deployment === undefined ? [] : [{ kind: "PatchDeployment", patch: freeze.deployment } as const]),
  ];
}

/** Marks the machines that the cluster-autoscaler chose, and takes marks back, before anything is scaled, also while paused. */
function decideScalerMarks(
  { deployment, machines }: MachineDeploymentSnapshot,
  now: Date,
): readonly MachineDeploymentAction[] {
  const lists = [...machines.values()];
  const isListed = deployment.metadata.annotations?.[annotationKeys.triggerDeletion] !== undefined;
  const concerned = isListed ? lists.flat() : lists.flatMap((list) => machinesWhere(list, hasMark));
  if (!isListed && concerned.length === 0) return [];
  const marks = planScalerMarks(deployment, concerned, now);
  const patchOf = (annotations: object) => ({ metadata: { annotations } });
  return [
    ...marks.machines.map(({ name, annotations }): MachineDeploymentAction => ({
      kind: "PatchMachine",
      name,
      patch: patchOf(annotations),
    })),
    ...(Object.keys(marks.annotations).length === 0
      ? []
      : [{ kind: "PatchDeployment", patch: patchOf(marks.annotations) } as const]),
  ];
}

/** While machines are to be restored, the deployment only shrinks, and grows back to them. The list of the cluster-autoscaler is kept: machines that it names may be missing. */
function decideAwaited(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const marks = decideScalerMarks(snapshot, now).filter(({ kind }) => kind === "PatchMachine");
  return marks.length > 0 ? { actions: marks, because: [] } : decideAwaitedSizes(snapshot, now);
}

/** Follows the spec: rollback first, then scaling or the strategy's next step, within the rollout gates. */
function decideRollout(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, claim, rollout } = snapshot;
  const rollback = deployment.spec.paused === true ? undefined : planRollback(deployment, claim.owned, rollout?.proven);
  if (rollback !== undefined) {
    return { actions: [{ kind: "PatchDeployment", patch: rollback.patch }], because: [rollback.because] };
  }
  const failure = decideCanaryFailure(snapshot);
  if (failure !== undefined) return failure;
  const bounds = boundsOf(deployment);
  const step = planSizes(snapshot, bounds, now);
  if (step !== "create the new set") return decideSets(snapshot, step, bounds, now);
  return snapshot.limits.blocksCreation === undefined
    ? decideCreation(snapshot, bounds, now)
    : decideScaling(snapshot, now);
}

/**
 * With invalid options, or while no set may be created, the rollout waits for a user, as while it is paused. Scaling does not: the cluster-autoscaler cannot correct them.
 */
function decideScaling(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, problems } = snapshot;
  const paused = { ...snapshot, deployment: { ...deployment, spec: { ...deployment.spec, paused: true } } };
  const bounds = boundsOf(deployment);
  const scaling = decideSets(paused, planPausedSizes(paused, bounds), bounds, now);
  const status = statusOf(snapshot, undefined, now);
  const because = [...invalidSpecEvents(problems, deployment.status?.conditions), ...scaling.because];
  return { actions: scaling.actions, status, because };
}

/** The earlier of the progress deadline and the next change of the gates. */
function requeueAfter(deployment: MachineDeployment, { requeueAt }: RolloutGates, now: Date): number | undefined {
  const waits = [
    untilDeadline(deployment, now),
    requeueAt === undefined ? undefined : requeueAt.getTime() - now.getTime(),
  ];
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known));
}

/**
 * Decides the next step of a MachineDeployment. Deletion comes before validation, so that an object that became invalid can still be deleted.
 */
export function decideMachineDeployment(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const decision = decideStep(snapshot, now);
  const events =
    decision.status === undefined ? [] : heldEvents(snapshot.deployment.status?.conditions, decision.status.conditions);
  return events.length === 0 ? decision : { ...decision, because: [...decision.because, ...events] };
}

function decideStep(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const { deployment, problems, isSpecValid, limits } = snapshot;
  if (deployment.metadata.deletionTimestamp != null) return decideDeletion(snapshot, now);
  // Also with an invalid spec: the finalizer keeps the garbage collector from its sets.
  if (isProtected(deployment) && !hasFinalizer(deployment)) return { actions: [{ kind: "AddFinalizer" }], because: [] };
  if (!isSpecValid) {
    const status = statusOf(snapshot, undefined, now);
    return { actions: [], status, because: invalidSpecEvents(problems, deployment.status?.conditions) };
  }
  if (!hasFinalizer(deployment)) return { actions: [{ kind: "AddFinalizer" }], because: [] };
  const claims = decideClaims(snapshot);
  if (claims.length > 0) return { actions: claims, because: [] };
  // In the version that was read: an autoscaler may set it now.
  if (snapshot.assumedSize === "kept")
    return {
      actions: [{ kind: "PatchDeployment", patch: { spec: { replicas: deployment.spec.replicas } } }],
      because: [],
    };
  const freezes = decideFreezeSync(snapshot);
  if (freezes.length > 0) return { actions: freezes, because: [] };
  if (snapshot.claim.owned.some((set) => expectedReplicasOf(set) !== undefined)) return decideAwaited(snapshot, now);
  const marks = decideScalerMarks(snapshot, now);
  // Marks count once they are stored: the writes trigger the next reconcile.
  if (marks.length > 0) return { actions: marks, because: [] };
  if (problems.length > 0) return decideScaling(snapshot, now);
  const decision = decideRollout(snapshot, now);
  const requeueAfterMs = requeueAfter(deployment, limits, now);
  return requeueAfterMs === undefined ? decision : { ...decision, requeueAfterMs };
}
