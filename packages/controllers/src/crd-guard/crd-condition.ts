import { crdsEstablishedConditionType, crdDeletedReason, eventReasons } from "@millwright/core";
import { type Condition, type ConditionTimes, findCondition, setCondition } from "../model/set-condition.ts";
import type { Reason } from "../model/decision.ts";
import type { CrdState } from "../model/crd-state.ts";
import { standstillText } from "./hold-texts.ts";

/** How an object that stands still says so: in one condition, the others stay as they were, and once in an event. */
export function tellStandstill(
  before: readonly Condition[],
  definition: CrdState,
  now: Date,
  times: ConditionTimes,
): { readonly conditions: readonly Condition[]; readonly because: readonly Reason[] } {
  const message = standstillText(definition);
  const type = crdsEstablishedConditionType;
  const isSaid = findCondition(before, type)?.message === message;
  return {
    conditions: setCondition(before, { type, status: "False", reason: crdDeletedReason, message }, now, times),
    because: isSaid ? [] : [{ type: "Warning", reason: eventReasons.crdDeleted, message }],
  };
}
