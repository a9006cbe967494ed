import {
  clusterApiConditionTypes,
  conditionOrder,
  summaryConditionTypes,
  specValidConditionType,
} from "@millwright/core/machine-api";
import { type Condition, type ConditionState, setCondition, type SetConditionOptions } from "@millwright/kube";

/** Types that MCM does not have, which we set and remove. */
const ours: ReadonlySet<string> = new Set<string>([
  ...Object.values(clusterApiConditionTypes),
  ...Object.values(summaryConditionTypes),
]);

const unknownPosition = conditionOrder.indexOf(clusterApiConditionTypes.paused) - 0.5;

const positionOf = ({ type }: Condition): number => {
  const position = conditionOrder.indexOf(type);
  return position < 0 ? unknownPosition : position;
};

/** In display order: MCM's, then Cluster API's, unknown types by name before Paused. */
const inOrder = (list: readonly Condition[]): readonly Condition[] =>
  list.toSorted((a, b) => positionOf(a) - positionOf(b) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));

/** Sets all of Cluster API's conditions in a list that has MCM's already. A list in which nothing changes is returned as it is, in whatever order. */
export function setConditions(
  list: readonly Condition[],
  states: readonly ConditionState[],
  options: SetConditionOptions,
): readonly Condition[] {
  return states.reduce((conditions, state) => setCondition(conditions, state, options), list);
}

/** Sorts a list if it differs from the one before: an order alone is not written. */
export const inOrderIfChanged = (
  list: readonly Condition[],
  before: readonly Condition[] | undefined,
): readonly Condition[] => (list === before ? list : inOrder(list));

/**
 * The list as MCM would have it, before an installation is handed back to it: without Cluster API's conditions, those for kstatus, and without `SpecValid`, unless that
 * is False. The same list when there is nothing to remove.
 */
export function withoutAddedConditions(list: readonly Condition[]): readonly Condition[] {
  const isOurs = ({ type, status }: Condition): boolean =>
    ours.has(type) || (type === specValidConditionType && status === "True");
  return list.some(isOurs) ? list.filter((condition) => !isOurs(condition)) : list;
}
