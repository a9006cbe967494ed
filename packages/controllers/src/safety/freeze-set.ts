import { nameList } from "@millwright/base";
import {
  annotationKeys,
  trueLabel,
  eventReasons,
  labelKeys,
  legacyConditionTypes,
  legacyReasons,
  type MachineSet,
} from "@millwright/core/machine-api";
import { type Condition, cutText } from "@millwright/kube";
import type { Reason } from "../model/decision.ts";
import type { Hold } from "../model/hold.ts";
import { shownHold } from "../model/hold-condition.ts";
import { noneReleased, RELEASE_LIMIT, type ReleasedMachines } from "./released-machines.ts";
import type { OvershootLimits } from "./overshoot-limits.ts";

/** Whether a set is frozen, and how it is reported. */
export interface Freeze {
  /** Absent when the set is not frozen: Gardener treats a condition `Frozen` of any status as an error. */
  readonly hold?: Hold;
  /** The merge patch of labels and annotations; absent when they are as they should be. */
  readonly patch?: Readonly<Record<string, unknown>>;
  readonly because: readonly Reason[];
}

/** Whether an object carries the label that stops the creation of machines. */
export const hasFreezeLabel = ({ metadata }: Pick<MachineSet, "metadata">): boolean =>
  metadata.labels?.[labelKeys.freeze] === trueLabel;

/** Whether the annotation requests the end of the freeze, whatever its value. */
export const isUnfreezeRequested = ({ metadata }: Pick<MachineSet, "metadata">): boolean =>
  metadata.annotations?.[annotationKeys.unfreeze] !== undefined;

/** The merge patch that removes label and request; none without them. */
export const thawPatch = (object: Pick<MachineSet, "metadata">): Pick<Freeze, "patch"> => {
  const metadata = {
    ...(hasFreezeLabel(object) ? { labels: { [labelKeys.freeze]: null } } : {}),
    ...(isUnfreezeRequested(object) ? { annotations: { [annotationKeys.unfreeze]: null } } : {}),
  };
  return Object.keys(metadata).length === 0 ? {} : { patch: { metadata } };
};

const frozenBecause = (message: string, reason: string = legacyReasons.overshootingReplicaCount): Hold => ({
  by: "freeze",
  holds: "creation",
  message,
  remedy: `Find out what created or deleted the machines, then set annotation ${annotationKeys.unfreeze}`,
  condition: { type: legacyConditionTypes.frozen, status: "True", reason },
});

const frozenConditionOf = ({ status }: MachineSet): Condition | undefined =>
  shownHold(status?.machineSetCondition, { type: legacyConditionTypes.frozen, status: "True" });

/** Why no machines of a set or a deployment are created, by its label and its newest conditions; empty when it is not frozen. */
export function shownFreezes(
  kind: "MachineSet" | "MachineDeployment",
  object: Pick<MachineSet, "metadata">,
  conditions: readonly Condition[],
): readonly Hold[] {
  const condition = shownHold(conditions, { type: legacyConditionTypes.frozen, status: "True" });
  if (!hasFreezeLabel(object) && condition === undefined) return [];
  const details = kind === "MachineSet" ? cutText(condition?.message ?? "") : "";
  return [frozenBecause(`${kind} is frozen${details === "" ? "" : ` (${details})`}`)];
}

/** Why a set is frozen that lost machines. */
function releasesText({ metadata }: MachineSet, { names }: ReleasedMachines): string {
  return `Labels of ${names.length} machines no longer match the selector of MachineSet ${metadata.name}: ${nameList(names)}. Restore the labels, or delete these Machines`;
}

/** Whether a frozen set still has as many released machines as froze it. */
const isHeldByReleases = (set: MachineSet, { names, recent }: ReleasedMachines): boolean =>
  recent >= RELEASE_LIMIT ||
  (names.length >= RELEASE_LIMIT && frozenConditionOf(set)?.reason === legacyReasons.machinesReleased);

/** Keeps the message of the freeze: one that follows the number would flap. */
function holdOf(set: MachineSet, count: number, { upper, lower }: OvershootLimits, released: ReleasedMachines): Hold {
  const before = frozenConditionOf(set);
  if (before !== undefined) return frozenBecause(before.message ?? "", before.reason);
  if (released.recent >= RELEASE_LIMIT)
    return frozenBecause(releasesText(set, released), legacyReasons.machinesReleased);
  const { name } = set.metadata;
  return frozenBecause(
    count >= upper
      ? `The number of machines backing MachineSet: ${name} is ${count} >= ${upper} which is the Max-ScaleUp-Limit`
      : `MachineSet: ${name} has the label ${labelKeys.freeze}, which is removed when it has ${lower} machines or fewer`,
  );
}

/** Whether there is a reason to freeze the set, or to keep it frozen. */
function isDue(facts: {
  readonly set: MachineSet;
  readonly count: number;
  readonly hasGrown: boolean;
  readonly limits: OvershootLimits;
  readonly released: ReleasedMachines;
  readonly releasedBefore: number;
}): boolean {
  const { set, count, hasGrown, limits, released, releasedBefore } = facts;
  if (hasFreezeLabel(set)) return count > limits.lower || isHeldByReleases(set, released);
  const isOvershooting = count >= limits.upper && count > 0 && hasGrown;
  return isOvershooting || (released.recent >= RELEASE_LIMIT && released.names.length > releasedBefore);
}

/**
 * Decides whether a set is frozen (MCM, `pkg/controller/machine_safety.go`): when the number of its machines has *grown* to the upper limit or beyond, until it is at
 * the lower one or a user requests the end. A set that is scaled down far has many machines for a while, too, but created none in error: unlike MCM we do not
 * freeze it. A set is also frozen when it loses several machines within an hour because their labels no longer match, as when a webhook removes them: it would create machines without end.
 * The label is the state and the condition follows, so that removing the label unfreezes the set.
 *
 * @param count machines that the set controls, by its UID, terminating ones included: their VMs exist
 * @param countBefore the number in the last reconcile. Default: that of the status
 * @param released machines that the set lost
 * @param releasedBefore how many they were in the last reconcile: after a user requested the end, only further ones freeze the set again
 */
export function decideFreeze(
  set: MachineSet,
  count: number,
  limits: OvershootLimits,
  countBefore = set.status?.replicas ?? 0,
  released: ReleasedMachines = noneReleased,
  releasedBefore = 0,
): Freeze {
  const isLabeled = hasFreezeLabel(set);
  const hasGrown = count > countBefore;
  const isFrozen = isDue({ set, count, hasGrown, limits, released, releasedBefore }) && !isUnfreezeRequested(set);
  const { name } = set.metadata;
  const wasReported = frozenConditionOf(set) !== undefined;
  // Reported when the condition changes and not when the label does: the condition is written last, so that the event is recorded exactly once.
  const event = (reason: string, message: string): readonly Reason[] => [{ type: "Normal", reason, message }];
  if (!isFrozen) {
    const message = `SafetyController: Unfroze MachineSet ${name}`;
    return {
      ...thawPatch(set),
      because: wasReported ? event(eventReasons.unfrozeMachineSet, message) : [],
    };
  }
  const hold = holdOf(set, count, limits, released);
  const isReleases = hold.condition?.reason === legacyReasons.machinesReleased;
  const why = isReleases ? `: ${hold.message}` : " due to replica overshooting";
  const message = `SafetyController: Froze MachineSet ${name}${why}`;
  return {
    hold,
    ...(isLabeled ? {} : { patch: { metadata: { labels: { [labelKeys.freeze]: trueLabel } } } }),
    because: wasReported ? [] : event(eventReasons.frozeMachineSet, message),
  };
}
