import { type Condition, findCondition, setCondition, type SetConditionOptions } from "@millwright/kube";
import type { Reason } from "./decision.ts";
import type { Hold } from "./hold.ts";

/** How an object of which everything is held shows it: in one condition, while the others stay as they were, and once in an event. */
export function reportHold(
  before: readonly Condition[],
  { condition, event, message }: Hold,
  options: SetConditionOptions,
): { readonly conditions: readonly Condition[]; readonly because: readonly Reason[] } {
  if (condition === undefined) return { conditions: before, because: [] };
  const isReported = findCondition(before, condition.type)?.message === message;
  return {
    conditions: setCondition(before, { ...condition, message }, options),
    because: isReported || event === undefined ? [] : [{ ...event, message }],
  };
}
