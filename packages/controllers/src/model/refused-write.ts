import { writeRefusedConditionType, writeRefusedReason } from "@millwright/core/machine-api";
import {
  type Condition,
  findCondition,
  removeCondition,
  setCondition,
  type SetConditionOptions,
  type ConditionState,
} from "@millwright/kube";
import { isSameFailure } from "./same-failure.ts";

/** The condition that shows a refused write, of a set or a deployment. */
const refusedState = (message: string): ConditionState => ({
  type: writeRefusedConditionType,
  status: "True",
  reason: writeRefusedReason,
  message,
});

/** Conditions of which one is as it was stored: its times must not change with each attempt. */
export const withStored = (
  conditions: readonly Condition[],
  stored: readonly Condition[] | undefined,
  type: string,
): readonly Condition[] => {
  const before = findCondition(stored, type);
  if (before === undefined) return removeCondition(conditions, type);
  return findCondition(conditions, type) === undefined
    ? [...conditions, before]
    : conditions.map((each) => (each.type === type ? before : each));
};

/**
 * Conditions with the one that shows a refused write. The first message is kept: another attempt may have another request id.
 *
 * @param conditions as decided, without regard to the refusal
 * @param others states of further conditions that follow from it, made from its message
 */
export function withRefusedWrite(
  {
    conditions,
    stored,
  }: { readonly conditions: readonly Condition[]; readonly stored: readonly Condition[] | undefined },
  text: string,
  options: SetConditionOptions,
  others: (message: string) => readonly ConditionState[] = () => [],
): readonly Condition[] {
  const { message: before } = findCondition(stored, writeRefusedConditionType) ?? {};
  const message = before !== undefined && isSameFailure(before, text) ? before : text;
  return [refusedState(message), ...others(message)].reduce(
    (list, state) => setCondition(withStored(list, stored, state.type), state, options),
    conditions,
  );
}
