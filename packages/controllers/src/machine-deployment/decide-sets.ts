import {
  annotationKeys,
  eventReasons,
  type MachineDeployment,
  type MachineDeploymentStatus,
  type MachineSet,
} from "@millwright/core";
import type { Reason } from "../decision.ts";
import { surplusHistory } from "./history.ts";
import { machineSetPatch, newMachineSet } from "./machine-set-shape.ts";
import { newSetReplicas, type RolloutBounds, type Sizes } from "./plan-rolling-update.ts";
import { isScalingPass } from "./plan-sizes.ts";
import { isComplete } from "./progress.ts";
import { newRevision, revisionOf } from "./revision.ts";
import { sizeOf } from "./set-size.ts";
import {
  allOf,
  type MachineDeploymentAction,
  type MachineDeploymentDecision,
  type MachineDeploymentSnapshot,
  type Sets,
  statusOf,
} from "./snapshot.ts";

const scaled = (name: string, before: number, after: number): Reason => ({
  type: "Normal",
  reason: eventReasons.scalingMachineSet,
  message: `Scaled ${after > before ? "up" : "down"} machine set ${name} to ${after}`,
});

/** The deletion of a set, of this very one and of none that comes to have its name. */
export const deletionOf = ({ metadata }: MachineSet): MachineDeploymentAction => ({
  kind: "DeleteMachineSet",
  name: metadata.name,
  uid: metadata.uid ?? "",
});

/** Creates the set of the current template, as large as the strategy lets it be from the start. */
export function decideCreation(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment } = snapshot;
  const replicas = newSetReplicas(bounds, 0, sets.oldSets.map(sizeOf));
  const set = newMachineSet(deployment, replicas, newRevision(sets.oldSets.map((view) => view.set)), bounds);
  const { name } = set.metadata;
  return {
    actions: [{ kind: "CreateMachineSet", set }],
    status: statusOf(snapshot, sets, name, now),
    because: replicas > 0 ? [scaled(name, 0, replicas)] : [],
  };
}

/** The deployment carries the revision of its newest set. */
function revisionPatch(deployment: MachineDeployment, { newSet }: Sets, revision: number): MachineDeploymentAction[] {
  if (newSet === undefined || deployment.spec.paused === true) return [];
  const newest = Math.max(revision, revisionOf(newSet.set));
  if (revisionOf(deployment) === newest) return [];
  const annotations = { [annotationKeys.revision]: String(newest) };
  return [{ kind: "PatchDeployment", patch: { metadata: { annotations } } }];
}

/** Whether old sets may be forgotten: no rollout is under way, and no rollback waits for the end of a pause (machineset-machinedeployment.md, 16.6). */
function isHistoryDue(deployment: MachineDeployment, { newSet }: Sets, status: MachineDeploymentStatus): boolean {
  if (deployment.spec.paused === true) return deployment.spec.rollbackTo === undefined;
  return newSet !== undefined && isComplete(deployment, status);
}

/** One patch per set that is to be scaled or has fallen behind its deployment, and the deployment's own revision. */
export function decideSets(
  snapshot: MachineDeploymentSnapshot,
  sets: Sets,
  sizes: Sizes,
  bounds: RolloutBounds,
  now: Date,
): MachineDeploymentDecision {
  const { deployment } = snapshot;
  const actions: MachineDeploymentAction[] = [];
  const because: Reason[] = [];
  const isScaling = isScalingPass(snapshot, sets);
  const revision = newRevision(sets.oldSets.map(({ set }) => set));
  for (const { set } of allOf(sets)) {
    const { name } = set.metadata;
    const before = set.spec.replicas ?? 0;
    const after = sizes.get(name) ?? before;
    const isFollowing = set === sets.newSet?.set && deployment.spec.paused !== true;
    const patch = machineSetPatch({
      set,
      bounds,
      replicas: sizes.get(name),
      isScaled: isScaling && before > 0,
      ...(isFollowing ? { follow: { deployment, revision } } : {}),
    });
    if (patch !== undefined) actions.push({ kind: "PatchMachineSet", name, patch });
    if (after !== before) because.push(scaled(name, before, after));
  }
  actions.push(...revisionPatch(deployment, sets, revision));
  const status = statusOf(snapshot, sets, undefined, now);
  if (isHistoryDue(deployment, sets, status)) {
    actions.push(...surplusHistory(deployment, sets.oldSets).map(({ set }) => deletionOf(set)));
  }
  return { actions, status, because };
}
