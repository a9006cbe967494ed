import type { Decision } from "../../model/decision.ts";
import type { GroupConditions } from "../group/group-conditions.ts";
import type { Condition } from "@millwright/kube";
import { inOrderIfChanged, setConditions, withoutOurs } from "../set-conditions.ts";

/** Lists of conditions in the status of one object. */
export interface ConditionLists {
  /** As stored. */
  readonly before: readonly Condition[] | undefined;
  /** As MCM would have it after this pass; holds what was stored of Cluster API's. */
  readonly legacy: readonly Condition[];
  /** Whether the conditions of this kind have `lastUpdateTime`. */
  readonly updateTime: boolean;
}

/** The list that a pass writes: with Cluster API's conditions, or without where they are not wanted. */
export const conditionList = (
  { before, legacy, updateTime }: ConditionLists,
  group: GroupConditions | undefined,
  now: Date,
): readonly Condition[] =>
  group === undefined
    ? withoutOurs(legacy)
    : inOrderIfChanged(setConditions(legacy, group.states, { now, updateTime }), before);

/** The decision with the new status and the earlier one of the wake-ups. */
export function withConditions<D extends Decision<unknown, unknown>>(
  decision: D,
  status: NonNullable<D["status"]>,
  group: GroupConditions | undefined,
): D {
  const wakes = [decision.requeueAfterMs, group?.requeueAfterMs].filter((ms) => ms !== undefined);
  return { ...decision, status, ...(wakes.length === 0 ? {} : { requeueAfterMs: Math.min(...wakes) }) };
}
