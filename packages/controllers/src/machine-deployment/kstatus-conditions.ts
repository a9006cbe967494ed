import {
  clusterApiConditionTypes as types,
  kstatusConditionTypes as kstatusTypes,
  legacyConditionTypes,
  specValidConditionType,
} from "@millwright/core";
import { type Condition, type ConditionState, findCondition, removeCondition, setCondition } from "@millwright/kube";

/** Conditions that stall a deployment while they are False, the most important first. */
const stalling: readonly string[] = [specValidConditionType, legacyConditionTypes.progressing];

/** Conditions that a settled deployment has, with their status, the most important first. */
const settled: readonly (readonly [type: string, status: string])[] = [
  [types.rollingOut, "False"],
  [types.scalingUp, "False"],
  [types.scalingDown, "False"],
  [types.remediating, "False"],
  [types.machinesReady, "True"],
];

/** The condition for kstatus that the other conditions of a deployment amount to; `undefined` when it is settled. */
export function kstatusCondition(conditions: readonly Condition[]): ConditionState | undefined {
  const entry = (type: string, cause: string): ConditionState => {
    const found = findCondition(conditions, cause);
    // Details change with every machine: they are in the other condition.
    const [title = ""] = (found?.message ?? "").split("\n");
    const message = title.endsWith(":") ? `Condition ${cause} lists the machines` : title;
    return { type, status: "True", reason: cause, message };
  };
  const stalls = stalling.find((type) => findCondition(conditions, type)?.status === "False");
  if (stalls !== undefined) return entry(kstatusTypes.stalled, stalls);
  const unsettled = settled.find(([type, status]) => findCondition(conditions, type)?.status !== status);
  return unsettled === undefined ? undefined : entry(kstatusTypes.reconciling, unsettled[0]);
}

/** Sets the condition for kstatus in a list that has all others, and removes the one that no longer holds. */
export function withKstatusCondition(
  conditions: readonly Condition[],
  generation: number | undefined,
  now: Date,
): readonly Condition[] {
  const state = kstatusCondition(conditions);
  const stale = Object.values(kstatusTypes).filter((type) => type !== state?.type);
  const kept = stale.reduce(removeCondition, conditions);
  if (state === undefined) return kept;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return setCondition(kept, { ...state, ...observed }, { now, updateTime: true });
}
