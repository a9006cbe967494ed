import { annotationKeys, isRecord, type MachineDeployment, type MachineSet } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { countWhere } from "../../machine-lists/machine-list.ts";
import { isPresent } from "../../model/phase.ts";
import { machineSetName, templateHash } from "../../model/template-hash.ts";
import { newRevision, revisionOf } from "./revision.ts";
import { countAvailable, hasSome, notedNumber, type SetView } from "./set-size.ts";
import { allOf, findNewSet, type Sets } from "./sets.ts";

/**
 * A rollout under way, as it is recorded on its deployment from its first write to its end. Sets are reused, and their times mean nothing for a second attempt: what may spread without steps is read here and
 * nowhere else.
 */
export interface Rollout {
  /** Name of the set of the template that is rolled out. */
  readonly set: string;
  /** Revision of that set in this rollout: greater than that of any other set, and of any rollout before. */
  readonly revision: number;
  /** Name of the set whose template is proven: the last that had all machines. A rollout back to it has the name of its own set here. */
  readonly proven: string;
  /** When the rollout began: RFC 3339. */
  readonly since: string;
  /** The steps that the template has passed, as in the annotation: the next rollout starts from it. Default: it has not, or there are none. */
  readonly passed?: string;
}

/** The recorded rollout; `undefined` without one, or when a user has made it unreadable: then it starts again. */
export function recordedRollout({ metadata }: MachineDeployment): Rollout | undefined {
  try {
    const read: unknown = JSON.parse(metadata.annotations?.[annotationKeys.rollout] ?? "null");
    if (!isRecord(read)) return undefined;
    const { set, revision, proven, since, passed } = read;
    if (typeof set !== "string" || typeof proven !== "string" || typeof revision !== "number") return undefined;
    if (typeof since !== "string" || Number.isNaN(Date.parse(since))) return undefined;
    return { set, revision, proven, since, ...(typeof passed === "string" ? { passed } : {}) };
  } catch {
    return undefined;
  }
}

/** The text of the record. */
export const rolloutText = ({ set, revision, proven, since, passed }: Rollout): string =>
  JSON.stringify({ set, revision, proven, since, passed });

/** The machine of a set whose failure stopped the rollout of its template. */
export const canaryFailureOf = (set: MachineSet | undefined): string | undefined =>
  set?.metadata.annotations?.[annotationKeys.canaryFailed];

/** Whether the rollout leads back to the proven template: it needs no steps. */
export const isReturn = ({ set, proven }: Rollout): boolean => set === proven;

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
