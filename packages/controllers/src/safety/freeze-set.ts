import {
  annotationKeys,
  trueLabel,
  eventReasons,
  labelKeys,
  legacyConditionTypes,
  legacyReasons,
  type MachineSet,
} from "@millwright/core";
import { type ConditionState, findCondition } from "@millwright/kube";
import type { Reason } from "../model/decision.ts";
import type { OvershootLimits } from "./overshoot-limits.ts";

/** Whether a set, or a deployment, is frozen, and how it is reported. */
export interface Freeze {
  readonly isFrozen: boolean;
  /** The merge patch of labels and annotations; absent when they are as they should be. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** The condition `Frozen`; absent when the object is not frozen, because Gardener treats an existing one as an error. */
  readonly condition?: ConditionState;
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

const frozenBecause = (message: string): ConditionState => ({
  type: legacyConditionTypes.frozen,
  status: "True",
  reason: legacyReasons.overshootingReplicaCount,
  message,
});

/** Keeps the message of the freeze: one that follows the number would flap. */
function conditionOf(set: MachineSet, count: number, { upper, lower }: OvershootLimits): ConditionState {
  const before = findCondition(set.status?.machineSetCondition, legacyConditionTypes.frozen);
  if (before?.status === "True") return frozenBecause(before.message ?? "");
  const { name } = set.metadata;
  return frozenBecause(
    count >= upper
      ? `The number of machines backing MachineSet: ${name} is ${count} >= ${upper} which is the Max-ScaleUp-Limit`
      : `MachineSet: ${name} has the label ${labelKeys.freeze}, which is removed when it has ${lower} machines or fewer`,
  );
}

/**
 * Decides whether a set is frozen (MCM, `pkg/controller/machine_safety.go`): when the number of its machines has *grown* to the upper limit or beyond, until it is at
 * the lower one or a user requests the end. A set that is scaled down far has many machines for a while, too, but created none in error: unlike MCM we do not
 * freeze it. The label is the state and the condition follows, so that removing the label unfreezes the set.
 *
 * @param count machines that the set controls, by its UID, terminating ones included: their VMs exist
 * @param countBefore the number in the last reconcile. Default: that of the status
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
    ? count > limits.lower && !isUnfreezeRequested(set)
    : count >= limits.upper && count > 0 && hasGrown && !isUnfreezeRequested(set);
  const { name } = set.metadata;
  const wasReported = findCondition(set.status?.machineSetCondition, legacyConditionTypes.frozen)?.status === "True";
  // Reported when the condition changes and not when the label does: the condition is written last, so that the event is recorded exactly once.
  const event = (reason: string, message: string): readonly Reason[] => [{ type: "Normal", reason, message }];
  if (!isFrozen) {
    const message = `SafetyController: Unfroze MachineSet ${name}`;
    return {
      isFrozen,
      ...thawPatch(set),
      because: wasReported ? event(eventReasons.unfrozeMachineSet, message) : [],
    };
  }
  const message = `SafetyController: Froze MachineSet ${name} due to replica overshooting`;
  return {
    isFrozen,
    ...(isLabelled ? {} : { patch: { metadata: { labels: { [labelKeys.freeze]: trueLabel } } } }),
    condition: conditionOf(set, count, limits),
    because: wasReported ? [] : event(eventReasons.frozeMachineSet, message),
  };
}
