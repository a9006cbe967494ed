import type { Decision } from "../../model/decision.ts";
import type { GroupConditions } from "../group/group-conditions.ts";
import type { Condition } from "@millwright/kube";
import { inOrderIfChanged, setConditions, withoutAddedConditions } from "../set-conditions.ts";

/** Lists of conditions in the status of one object. */
export interface ConditionLists {
  /** As stored. */
  readonly before: readonly Condition[] | undefined;
  /** MCM's conditions after this reconcile, and the stored ones of Cluster API. */
  readonly legacy: readonly Condition[];
  /** Whether the conditions of this kind have `lastUpdateTime`. */
  readonly updateTime: boolean;
}

/** The list that a reconcile writes: with Cluster API's conditions, or without when they are disabled. */
export const conditionList = (
  { before, legacy, updateTime }: ConditionLists,
  group: GroupConditions | undefined,
  now: Date,
): readonly Condition[] =>
  group === undefined
    ? withoutAddedConditions(legacy)
    : inOrderIfChanged(setConditions(legacy, group.states, { now, updateTime }), before);

/** The decision with the new status and the earlier of the requeue times. */
export function withConditions<D extends Decision<unknown, unknown>>(
  decision: D,
  status: NonNullable<D["status"]>,
  group: GroupConditions | undefined,
): D {
  const requeues = [decision.requeueAfterMs, group?.requeueAfterMs].filter((ms) => ms !== undefined);
  return { ...decision, status, ...(requeues.length === 0 ? {} : { requeueAfterMs: Math.min(...requeues) }) };
}
