import type { Decision } from "../../model/decision.ts";
import type { MachineSummary } from "@millwright/core/machine-api";
import type { Condition } from "@millwright/kube";
import type { GroupConditions } from "../group/group-conditions.ts";
import { type Cause, type SummaryFacts, withSummary } from "../group/summary.ts";
import { inOrderIfChanged, setConditions, withoutAddedConditions } from "../set-conditions.ts";

/** Lists of conditions in the status of one object. */
export interface ConditionLists {
  /** As stored. */
  readonly before: readonly Condition[] | undefined;
  /** MCM's conditions after this reconcile, and the stored ones of Cluster API. */
  readonly legacy: readonly Condition[];
  /** Whether the conditions of this kind have `lastUpdateTime`. */
  readonly updateTime: boolean;
  readonly generation: number | undefined;
}

/** The first creation of a VM that failed, of those that a status lists. */
export function failureIn(failed: readonly MachineSummary[] = []): Cause | undefined {
  const { errorCode = "", description = "" } =
    failed.find(({ lastOperation }) => (lastOperation?.errorCode ?? "") !== "")?.lastOperation ?? {};
  return errorCode === "" ? undefined : { reason: errorCode, message: description.split("\n", 1).join("") };
}

/** The list that a reconcile writes: with Cluster API's conditions and the summary of all, or without when they are disabled. */
export function conditionList(
  { before, legacy, updateTime, generation }: ConditionLists,
  group: GroupConditions | undefined,
  facts: Omit<SummaryFacts, "unready">,
  now: Date,
): readonly Condition[] {
  if (group === undefined) return withoutAddedConditions(legacy);
  const conditions = setConditions(legacy, group.states, { now, updateTime });
  const summary = withSummary(conditions, { ...facts, unready: group.unready }, { now, updateTime, generation });
  return inOrderIfChanged(summary, before);
}

/** The decision with the new status and the earlier of the requeue times. */
export function withConditions<D extends Decision<unknown, unknown>>(
  decision: D,
  status: NonNullable<D["status"]>,
  group: GroupConditions | undefined,
): D {
  const requeues = [decision.requeueAfterMs, group?.requeueAfterMs].filter((ms) => ms !== undefined);
  return { ...decision, status, ...(requeues.length === 0 ? {} : { requeueAfterMs: Math.min(...requeues) }) };
}
