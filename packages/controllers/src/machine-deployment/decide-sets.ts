import {
  annotationKeys,
  eventReasons,
  type MachineDeployment,
  type MachineDeploymentStatus,
  type MachineSet,
} from "@millwright/core/machine-api";
import { unverifiedPatch } from "../machine-set/expected-replicas.ts";
import type { Reason } from "../model/decision.ts";
import { hasFreezeLabel } from "../safety/freeze-set.ts";
import { surplusHistory, newRevision, revisionOf } from "./state/revision.ts";
import { machineSetPatch, newMachineSet, setMarks } from "./sets/machine-set-shape.ts";
import { endTransfers, inPlaceReasons, transfers } from "./in-place/transfers.ts";
import { decideNodes, type KeptFromScaler } from "./nodes/decide-nodes.ts";
import { lateNodes } from "./nodes/late-nodes.ts";
import { newSetReplicas } from "./sizes/plan-rolling-update.ts";
import { boundsOf, type RolloutBounds } from "./state/rollout-bounds.ts";
import { isScalingOnly, planAwaited, planReductions, type RolloutStep } from "./plan-sizes.ts";
import { isComplete } from "./progress.ts";
import { recoveredSize, sizeOf } from "./state/set-size.ts";
import { allOf, type Sets } from "./state/sets.ts";
import type {
  MachineDeploymentAction,
  MachineDeploymentDecision,
  MachineDeploymentSnapshot,
} from "./state/snapshot.ts";
import { rolloutText } from "../model/rollout.ts";
import { statusOf } from "./status.ts";

const scaled = (name: string, before: number, after: number): Reason => ({
  type: "Normal",
  reason: eventReasons.scalingMachineSet,
  message: `Scaled ${after > before ? "up" : "down"} machine set ${name} to ${after}`,
});

/** The deletion of a set, with its UID, so that a later set with the same name is kept. */
export const deletionOf = ({ metadata }: MachineSet): MachineDeploymentAction => ({
  kind: "DeleteMachineSet",
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/** Whether a deployment was restored from a file, without its sets: its revision, or its status, shows that it had some. */
const isRestored = ({ deployment: { metadata, status }, claim }: MachineDeploymentSnapshot): boolean =>
  claim.owned.length === 0 &&
  (status?.observedGeneration === undefined
    ? metadata.annotations?.[annotationKeys.revision] !== undefined
    : status.replicas !== undefined && status.replicas > 0);

/** The set, marked so that it looks for the VMs of former machines before it creates others. */
const marked = (set: MachineSet): MachineSet => ({
  ...set,
  metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...unverifiedPatch.metadata.annotations } },
});

/** Creates the set of the current template, with the size that the strategy allows. */
export function decideCreation(
  snapshot: MachineDeploymentSnapshot,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment, sets, limits } = snapshot;
  const replicas = hasFreezeLabel(deployment) ? 0 : newSetReplicas(bounds, 0, sets.oldSets.map(recoveredSize), limits);
  const set = newMachineSet(deployment, replicas, newRevision(sets.oldSets.map((view) => view.set)), bounds);
  const { name } = set.metadata;
  const status = statusOf(snapshot, name, now);
  const made = isRestored(snapshot) ? marked(set) : set;
  const actions: readonly MachineDeploymentAction[] = [{ kind: "CreateMachineSet", set: made }];
  return {
    // The revision of a first set follows when the set is there.
    actions: withRecord(actions, snapshot, status, snapshot.rollout !== undefined),
    status,
    because: replicas > 0 ? [scaled(name, 0, replicas)] : [],
  };
}

/** Whether the rollout is over: all machines have its template, which has passed its steps. With no machines nothing is proven. */
const isOver = ({ deployment, limits }: MachineDeploymentSnapshot, status: MachineDeploymentStatus): boolean =>
  limits.steps !== "ahead" && status.availableReplicas !== 0 && isComplete(deployment, status);

/** The record of the rollout as it is to be now; `null` when none is under way. */
function recordOf(snapshot: MachineDeploymentSnapshot, status: MachineDeploymentStatus): string | null {
  const { deployment, rollout, limits } = snapshot;
  if (rollout === undefined || isOver(snapshot, status)) return null;
  const steps = deployment.metadata.annotations?.[annotationKeys.canarySteps];
  return rolloutText(limits.steps === "passed" && steps !== undefined ? { ...rollout, passed: steps } : rollout);
}

/**
 * The actions with what the deployment records about its rollout: the record and the revision of its newest set. A rollout is recorded before anything of it is done. At its end the record goes, and with it the answer to
 * its pauses.
 *
 * @param isCreating the newest set is created in this reconcile
 */
function withRecord(
  actions: readonly MachineDeploymentAction[],
  snapshot: MachineDeploymentSnapshot,
  status: MachineDeploymentStatus,
  isCreating = false,
): readonly MachineDeploymentAction[] {
  const { newSet, oldSets } = snapshot.sets;
  const { annotations: own = {} } = snapshot.deployment.metadata;
  // Nothing begins while no set may be created.
  if (newSet === undefined && !isCreating) return actions;
  const record = recordOf(snapshot, status);
  const revision = Math.max(
    newRevision(oldSets.map((view) => view.set)),
    newSet === undefined ? 0 : revisionOf(newSet.set),
  );
  const wanted: Readonly<Record<string, string | null>> = {
    [annotationKeys.rollout]: record,
    ...(record === null && own[annotationKeys.rollout] !== undefined ? { [annotationKeys.canaryContinue]: null } : {}),
    [annotationKeys.revision]: String(revision),
  };
  const changed = Object.entries(wanted).filter(([key, value]) => (own[key] ?? null) !== value);
  if (changed.length === 0) return actions;
  const patch = { metadata: { annotations: Object.fromEntries(changed) } };
  const recorded: MachineDeploymentAction = { kind: "PatchDeployment", patch };
  // A scaling begins nothing, and does not wait for a record that is refused.
  return record === null || isScalingOnly(snapshot) ? [...actions, recorded] : [recorded, ...actions];
}

/** Whether old sets may be deleted: no rollout is under way, and no rollback waits for the end of a pause (MCM, `pkg/controller/deployment_sync.go` cleanupMachineDeployment). */
function isHistoryDue(deployment: MachineDeployment, { newSet }: Sets, status: MachineDeploymentStatus): boolean {
  if (deployment.spec.paused === true) return deployment.spec.rollbackTo === undefined;
  return newSet !== undefined && isComplete(deployment, status);
}

/** Whether scale-down by the cluster-autoscaler is disabled: from the first step of a rollout to its end (MCM, `pkg/controller/deployment_rolling.go` annotateNodesBackingMachineSets). */
function isKeptFromScaler(
  { deployment, disablesScaleDown = true, awaitsFirstSync = false, sets: { oldSets } }: MachineDeploymentSnapshot,
  status: MachineDeploymentStatus,
): KeptFromScaler | undefined {
  if (!disablesScaleDown) return false;
  if (oldSets.some(({ set, machines }) => (set.spec.replicas ?? 0) > 0 || machines.length > 0))
    return awaitsFirstSync ? "once synchronized" : true;
  return isComplete(deployment, status) ? false : undefined;
}

/** What the nodes are to carry; while paused only those that join are changed (MCM, `pkg/controller/deployment_sync.go` checkPausedConditions, changes none). */
function nodeActions(
  snapshot: MachineDeploymentSnapshot,
  { select }: Pick<RolloutStep, "select">,
  status: MachineDeploymentStatus,
): MachineDeploymentAction[] {
  const isPaused = snapshot.deployment.spec.paused === true;
  const marked = isPaused ? { ...snapshot, nodes: lateNodes(snapshot) } : snapshot;
  const nodes = decideNodes(marked, { select, isKeptFromScaler: isKeptFromScaler(snapshot, status) });
  return nodes.length === 0 ? [] : [{ kind: "PatchNodes", nodes }];
}

/**
 * The step of a reconcile as actions: the record of the rollout, machines that change sets, one patch per set that is to be scaled, marked or has fallen behind its deployment, and one per node.
 * In this order, so that the next reconcile continues after an interruption.
 */
export function decideSets(
  snapshot: MachineDeploymentSnapshot,
  step: RolloutStep,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment, sets } = snapshot;
  const status = statusOf(snapshot, undefined, now);
  const actions: MachineDeploymentAction[] = transfers(step, sets);
  const because: Reason[] = [];
  const isScaling = isScalingOnly(snapshot);
  const revision = newRevision(sets.oldSets.map(({ set }) => set));
  for (const view of allOf(sets)) {
    const { set } = view;
    const { name } = set.metadata;
    const before = set.spec.replicas ?? 0;
    const after = step.sizes.get(name) ?? before;
    const isNew = set === sets.newSet?.set;
    const patch = machineSetPatch({
      set,
      bounds,
      replicas: step.sizes.get(name),
      isScaled: isScaling && before > 0,
      marks: setMarks(deployment, view, after, !isNew, snapshot.nodes !== undefined),
      ...(isNew ? { follow: { deployment, revision } } : {}),
    });
    if (patch !== undefined) actions.push({ kind: "PatchMachineSet", name, patch });
    if (after !== before) because.push(scaled(name, before, after));
  }
  because.push(...inPlaceReasons(step));
  actions.push(...endTransfers(snapshot, step.sizes), ...nodeActions(snapshot, step, status));
  const surplus = isHistoryDue(deployment, sets, status)
    ? surplusHistory(deployment, sets.oldSets, snapshot.rollout?.proven)
    : [];
  return {
    actions: [...withRecord(actions, snapshot, status), ...surplus.map(({ set }) => deletionOf(set))],
    status,
    because,
  };
}

/** Scales sets down, and back to what they wait for, and does nothing else: while machines of a set are to be restored, the missing ones would count as unavailable. */
export function decideAwaitedSizes(snapshot: MachineDeploymentSnapshot, now: Date): MachineDeploymentDecision {
  const bounds = boundsOf(snapshot.deployment);
  const reductions = planReductions(snapshot, bounds);
  const sizes = reductions.size > 0 ? reductions : planAwaited(snapshot, bounds);
  const actions: MachineDeploymentAction[] = [];
  const because: Reason[] = [];
  for (const view of allOf(snapshot.sets)) {
    const { name } = view.set.metadata;
    const replicas = sizes.get(name);
    if (replicas === undefined) continue;
    const patch = { ...machineSetPatch({ set: view.set, bounds, replicas, isScaled: true }) };
    actions.push({ kind: "PatchMachineSet", name, patch });
    because.push(scaled(name, sizeOf(view).spec, replicas));
  }
  return { actions, status: statusOf(snapshot, undefined, now), because };
}
