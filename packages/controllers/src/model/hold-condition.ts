import {
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
  legacyConditionTypes,
  type MachineSet,
} from "@millwright/core";
import {
  type Condition,
  type ConditionState,
  findCondition,
  removeCondition,
  setCondition,
  type SetConditionOptions,
} from "@millwright/kube";
import type { Reason } from "./decision.ts";
import type { Hold } from "./hold.ts";

/** A condition of sets and deployments that shows a hold. */
export interface HoldCondition {
  /** The guard, or the rule, that holds. */
  readonly by: string;
  readonly type: string;
  /** The status while something is held; otherwise the condition is absent. */
  readonly status: "True" | "False";
}

/** All conditions that show a hold, the most important first. Readers print their messages. */
export const holdConditions: readonly HoldCondition[] = [
  { by: "crd", type: crdsEstablishedConditionType, status: "False" },
  { by: "freeze", type: legacyConditionTypes.frozen, status: "True" },
  { by: "budget", type: deletionsHeldConditionType, status: "True" },
  { by: "protection", type: deletionProtectedConditionType, status: "True" },
];

/** The condition of an object that shows this hold; `undefined` while nothing is held. */
export function shownHold(
  conditions: readonly Condition[] | undefined,
  { type, status }: HoldCondition,
): Condition | undefined {
  const found = findCondition(conditions, type);
  return found?.status === status ? found : undefined;
}

/**
 * The conditions with those of the holds, and without those of all others.
 *
 * @param unknown types whose hold was not judged: they stay as they are. Default: none
 */
export const withHolds = (
  before: readonly Condition[],
  states: readonly (ConditionState | undefined)[],
  options: SetConditionOptions,
  unknown: readonly string[] = [],
): readonly Condition[] =>
  holdConditions.reduce((conditions, { type }) => {
    if (unknown.includes(type)) return conditions;
    const state = states.find((each) => each?.type === type);
    return state === undefined ? removeCondition(conditions, type) : setCondition(conditions, state, options);
  }, before);

/** What a deployment shows of its sets: of each hold the condition of the first set that has it. A CRD holds the deployment itself. */
export const holdsOfSets = (sets: readonly MachineSet[]): readonly ConditionState[] =>
  holdConditions.flatMap((condition) => {
    if (condition.by === "crd") return [];
    const found = sets
      .map(({ status }) => shownHold(status?.machineSetCondition, condition))
      .find((each) => each !== undefined);
    if (found === undefined) return [];
    const { type, status } = condition;
    return [{ type, status, reason: found.reason ?? "", message: found.message ?? "" }];
  });

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
