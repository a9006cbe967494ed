import {
  annotationKeys,
  capitalTrue,
  eventReasons,
  labelKeys,
  legacyConditionTypes,
  legacyReasons,
  type MachineSet,
} from "@millwright/core";
import { type ConditionState, findCondition } from "@millwright/kube";
import type { Reason } from "../model/decision.ts";
import type { OvershootLimits } from "./overshoot-limits.ts";

/** Whether a set, or a deployment, makes no machines for the time being, and how it is to say so. */
export interface Freeze {
  readonly isFrozen: boolean;
  /** The merge patch of labels and annotations; absent when they are as they should be. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** The condition `Frozen`; absent when the object is not frozen, for Gardener takes one that is there for trouble. */
  readonly condition?: ConditionState;
  readonly because: readonly Reason[];
}

/** Whether an object carries the label that stops the creation of machines. */
export const hasFreezeLabel = ({ metadata }: Pick<MachineSet, "metadata">): boolean =>
  metadata.labels?.[labelKeys.freeze] === capitalTrue;

/** Whether somebody asks for the freeze to end, whatever the value says. */
export const isUnfreezeAsked = ({ metadata }: Pick<MachineSet, "metadata">): boolean =>
  metadata.annotations?.[annotationKeys.unfreeze] !== undefined;

/** The merge patch that takes label and request away; none where neither is. */
export const thawPatch = (object: Pick<MachineSet, "metadata">): Pick<Freeze, "patch"> => {
  const metadata = {
    ...(hasFreezeLabel(object) ? { labels: { [labelKeys.freeze]: null } } : {}),
    ...(isUnfreezeAsked(object) ? { annotations: { [annotationKeys.unfreeze]: null } } : {}),
  };
  return Object.keys(metadata).length === 0 ? {} : { patch: { metadata } };
};

const frozenBecause = (message: string): ConditionState => ({
  type: legacyConditionTypes.frozen,
  status: "True",
  reason: legacyReasons.overshootingReplicaCount,
  message,
});

/** Keeps what was said when the set was frozen: a message that follows the number would flap. */
function conditionOf(set: MachineSet, count: number, { upper, lower }: OvershootLimits): ConditionState {
  const before = findCondition(set.status?.machineSetCondition, legacyConditionTypes.frozen);
  if (before?.status === "True") return frozenBecause(before.message ?? "");
  const { name } = set.metadata;
  return frozenBecause(
    count >= upper
      ? `The number of machines backing MachineSet: ${name} is ${count} >= ${upper} which is the Max-ScaleUp-Limit`
      : `MachineSet: ${name} has the label ${labelKeys.freeze}, which goes when it has ${lower} machines or fewer`,
  );
}

/**
 * Decides whether a set is frozen (MCM, `pkg/controller/machine_safety.go`): when the number of its machines has *grown* to the upper limit or beyond, until it is at
 * the lower one or somebody asks. A set that is told to shrink far has many machines for a while, too, but none was made that should not be: unlike MCM we do not
 * freeze it. The label is the state and the condition follows, so that whoever takes the label away has unfrozen the set.
 *
 * @param count machines that the set controls, by its UID, with those on their way out: their VMs exist
 * @param countBefore as many the last pass saw. Default: those of the status
 */
export function decideFreeze(
  set: MachineSet,
  count: number,
  limits: OvershootLimits,
  countBefore = set.status?.replicas ?? 0,
): Freeze {
  const isLabelled = hasFreezeLabel(set);
  const hasGrown = count > countBefore;
  const isFrozen = isLabelled
    ? count > limits.lower && !isUnfreezeAsked(set)
    : count >= limits.upper && count > 0 && hasGrown && !isUnfreezeAsked(set);
  const { name } = set.metadata;
  const wasSaid = findCondition(set.status?.machineSetCondition, legacyConditionTypes.frozen)?.status === "True";
  // Said when the condition changes and not when the label does: it is the last that is written, so nothing is told twice or never.
  const say = (reason: string, message: string): readonly Reason[] => [{ type: "Normal", reason, message }];
  if (!isFrozen) {
    const message = `SafetyController: Unfroze MachineSet ${name}`;
    return {
      isFrozen,
      ...thawPatch(set),
      because: wasSaid ? say(eventReasons.unfrozeMachineSet, message) : [],
    };
  }
  const message = `SafetyController: Froze MachineSet ${name} due to replica overshooting`;
  return {
    isFrozen,
    ...(isLabelled ? {} : { patch: { metadata: { labels: { [labelKeys.freeze]: capitalTrue } } } }),
    condition: conditionOf(set, count, limits),
    because: wasSaid ? [] : say(eventReasons.frozeMachineSet, message),
  };
}
