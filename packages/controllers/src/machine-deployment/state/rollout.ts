import { annotationKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { countWhere } from "../../machine-lists/machine-list.ts";
import { isPresent } from "../../model/phase.ts";
import { recordedRollout, type Rollout } from "../../model/rollout.ts";
import { machineSetName, templateHash } from "../../model/template-hash.ts";
import { newRevision, revisionOf } from "./revision.ts";
import { countAvailable, hasSome, notedNumber, type SetView } from "./set-size.ts";
import { allOf, findNewSet, type Sets } from "./sets.ts";

/** The machine of a set whose failure stopped the rollout of its template. */
export const canaryFailureOf = (set: MachineSet | undefined): string | undefined =>
  set?.metadata.annotations?.[annotationKeys.canaryFailed];

/** The name of the set that the current template has, or will get. */
export function nameOfNewSet({ metadata, spec, status }: MachineDeployment, newSet: SetView | undefined): string {
  return (
    newSet?.set.metadata.name ?? machineSetName(metadata.name, templateHash(spec.template, status?.collisionCount))
  );
}

/** The set that serves most: by its available machines, by those that are there, and by its revision. */
function servingMost(views: readonly SetView[]): SetView | undefined {
  const rank = (view: SetView): readonly number[] => [
    countAvailable(view),
    countWhere(view.machines, isPresent),
    revisionOf(view.set),
  ];
  const compare = (a: SetView, b: SetView): number => {
    const of = rank(b);
    return rank(a).reduce((difference, each, index) => difference || each - (of[index] ?? 0), 0);
  };
  return views.reduce<SetView | undefined>(
    (most, view) => (most === undefined || compare(view, most) > 0 ? view : most),
    undefined,
  );
}

const isAlive = ({ set }: SetView): boolean => set.metadata.deletionTimestamp == null;

/** Whether the template of the rollout before has proved itself: it has passed its steps, or there were none and it has all machines; and none has failed. */
function hasProved({ metadata }: MachineDeployment, { set, passed }: Rollout, views: readonly SetView[]): boolean {
  const view = views.find((each) => each.set.metadata.name === set);
  if (view === undefined || !isAlive(view) || canaryFailureOf(view.set) !== undefined) return false;
  if (passed !== undefined) return true;
  const isStepped = metadata.annotations?.[annotationKeys.canarySteps] !== undefined;
  const wanted = notedNumber(view.set, annotationKeys.desiredReplicas) ?? 0;
  const hasAll = wanted > 0 && countAvailable(view) >= wanted && views.filter(hasSome).length === 1;
  return hasAll && !isStepped;
}

/**
 * The name of the set whose template is proven when a rollout begins. It starts from what the rollout before it started from, or from the template of that, when it has proved itself. If nothing is recorded, or
 * another controller has rolled out meanwhile, the set that serves most counts.
 */
function provenSet(deployment: MachineDeployment, set: string, views: readonly SetView[]): string | undefined {
  const before = recordedRollout(deployment);
  const isAfter = (view: SetView): boolean =>
    view.set.metadata.name !== set && revisionOf(view.set) > (before?.revision ?? 0);
  if (before !== undefined && !views.some(isAfter)) {
    const proven = hasProved(deployment, before, views) ? before.set : before.proven;
    if (proven === set || views.some((view) => isAlive(view) && view.set.metadata.name === proven)) return proven;
  }
  return servingMost(views.filter(isAlive))?.set.metadata.name;
}

/** The rollout that is under way: the recorded one, or the one that begins now. `undefined` when there is none, or no set that it could start from. */
export function rolloutOf(deployment: MachineDeployment, sets: Sets, now: Date): Rollout | undefined {
  const { newSet, oldSets } = sets;
  const recorded = recordedRollout(deployment);
  const set = nameOfNewSet(deployment, newSet);
  const own = newSet === undefined ? 0 : revisionOf(newSet.set);
  const revision = Math.max(newRevision(oldSets.map((view) => view.set)), own);
  if (recorded?.set === set && recorded.revision === revision) return recorded;
  const isAtRest = recorded === undefined && own === revision && !oldSets.some(hasSome);
  if (oldSets.length === 0 || isAtRest) return undefined;
  const proven = provenSet(deployment, set, allOf(sets));
  return proven === undefined ? undefined : { set, revision, proven, since: apiTime(now) };
}

/** Whether a rollout is under way or about to begin, as far as the sets show. */
export function isRollingOut(deployment: MachineDeployment, sets: readonly MachineSet[]): boolean {
  if (recordedRollout(deployment) !== undefined) return true;
  const current = findNewSet(deployment, sets);
  return sets.some((set) => set !== current && revisionOf(set) >= (current === undefined ? 0 : revisionOf(current)));
}
