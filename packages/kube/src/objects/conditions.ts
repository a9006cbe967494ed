/** One entry of a list of conditions. Source: Kubernetes API conventions, "Typical status properties", and apimachinery `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** One word in CamelCase, for programs. */
  readonly reason?: string;
  /** For people. */
  readonly message?: string;
  readonly lastTransitionTime?: string;
  /** Older kinds have it. */
  readonly lastUpdateTime?: string;
  readonly observedGeneration?: number;
}

/** The desired content of a condition; its times follow from the one before. */
export interface ConditionState {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** Options of {@link setCondition}. */
export interface SetConditionOptions {
  readonly now: Date;
  /** Whether conditions of this kind have `lastUpdateTime`. Default false. */
  readonly updateTime?: boolean | undefined;
  /** Renews `lastUpdateTime` although nothing else changes. Default false. */
  readonly touch?: boolean | undefined;
}

/** The entry of a type. */
export function findCondition<T extends { readonly type: string }>(
  list: readonly T[] | undefined,
  type: string,
): T | undefined {
  return list?.find((condition) => condition.type === type);
}

/** Whether there is a condition of a type whose status is `True`. */
export function isConditionTrue(list: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(list, type)?.status === "True";
}

/**
 * A list with one condition set. `lastTransitionTime` moves with the status alone, `lastUpdateTime` with status, reason or message. The list keeps its order, a new
 * entry is added at its end, and a list in which nothing changes is returned as it is, so that an unchanged status stays equal and is not written.
 *
 * An entry without `observedGeneration` is not changed only to add one: a schema without the field drops it, and it would be written in every reconcile.
 */
export function setCondition(
  list: readonly Condition[],
  state: ConditionState,
  { now, updateTime = false, touch = false }: SetConditionOptions,
): readonly Condition[] {
  const before = findCondition(list, state.type);
  const isSameStatus = before?.status === state.status;
  const isSameText = isSameStatus && before.reason === state.reason && before.message === state.message;
  const isTouched = touch && updateTime;
  if (isSameText && isSameGeneration(before, state) && !isTouched) return list;
  const transitionTime = isSameStatus ? before.lastTransitionTime : undefined;
  const lastUpdateTime = isSameText && !isTouched ? before.lastUpdateTime : undefined;
  const after: Condition = {
    ...state,
    lastTransitionTime: transitionTime ?? apiTime(now),
    ...(updateTime ? { lastUpdateTime: lastUpdateTime ?? apiTime(now) } : {}),
  };
  return before === undefined ? [...list, after] : list.map((entry) => (entry === before ? after : entry));
}

const isSameGeneration = (before: Condition, { observedGeneration }: ConditionState): boolean =>
  observedGeneration === undefined ||
  before.observedGeneration === undefined ||
  before.observedGeneration === observedGeneration;

/** The list without the conditions of a type; the same list when there is none. */
export function removeCondition<T extends { readonly type: string }>(list: readonly T[], type: string): readonly T[] {
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}

/** A time as objects carry it: RFC 3339 in UTC, whole seconds (`metav1.Time`). Leases use `MicroTime` instead. */
export function apiTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
