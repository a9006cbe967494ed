/** One entry of a condition list, as MachineDeployment and MachineSet carry it. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly observedGeneration?: number;
}

/** What a condition is to say; the times follow from what it said before. */
export interface ConditionState {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** The entry of that type, or `undefined`. */
export const findCondition = <T extends { readonly type: string }>(
  list: readonly T[] | undefined,
  type: string,
): T | undefined => list?.find((condition) => condition.type === type);

/** API times have whole seconds. */
export const apiTime = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** Which times a list of conditions has: those of a deployment have `lastUpdateTime`, those of a set have not. */
export type ConditionTimes = "transition" | "transition and update";

/**
 * Sets one condition in a list. `lastTransitionTime` moves only with the status, `lastUpdateTime` (where the list has it)
 * with status, reason or message. The list keeps its order, a new entry goes to its end, and a list in which nothing
 * changes is returned as it is, so that an unchanged status stays equal. `touch` renews `lastUpdateTime` although nothing else
 * changes: a rollout that advances proves it that way.
 *
 * An entry without a generation is not changed for the sake of one: MCM's CustomResourceDefinitions drop the field, and it would be written in every
 * pass. `kubectl wait` looks at `status.observedGeneration` then.
 */
export function setCondition(
  list: readonly Condition[],
  state: ConditionState,
  now: Date,
  times: ConditionTimes = "transition and update",
  touch = false,
): readonly Condition[] {
  const before = findCondition(list, state.type);
  const isSameStatus = before?.status === state.status;
  const isSameText = isSameStatus && before.reason === state.reason && before.message === state.message;
  const isSameGeneration =
    state.observedGeneration === undefined ||
    before?.observedGeneration === undefined ||
    before.observedGeneration === state.observedGeneration;
  if (isSameText && isSameGeneration && !touch) return list;
  const keep = (isKept: boolean, time: string | undefined): string =>
    isKept && time !== undefined ? time : apiTime(now);
  const after: Condition = {
    ...state,
    lastTransitionTime: keep(isSameStatus, before?.lastTransitionTime),
    ...(times === "transition and update"
      ? { lastUpdateTime: keep(isSameText && !touch, before?.lastUpdateTime) }
      : {}),
  };
  return before === undefined ? [...list, after] : list.map((entry) => (entry === before ? after : entry));
}

/** The list without the conditions of the given type; the same list when there is none. */
export const removeCondition = <T extends { readonly type: string }>(list: readonly T[], type: string): readonly T[] =>
  list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
