import {
  clusterApiConditionTypes as types,
  clusterApiReasons,
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
  deletionsHeldReasons,
  legacyConditionTypes,
  specValidConditionType,
  summaryConditionTypes,
  writeRefusedConditionType,
} from "@millwright/core/machine-api";
import { type Condition, findCondition, removeCondition, setCondition } from "@millwright/kube";
import { withStored } from "../../model/refused-write.ts";

/** Why an object is not as desired, in one word and in one line. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
}

/** What the summary of a set or deployment is computed from, besides its conditions. */
export interface SummaryFacts {
  /** The last creation of a VM that failed. */
  readonly failure?: Cause | undefined;
  /** What the rollout waits for, besides a pause. */
  readonly gate?: Cause | undefined;
  /** The most frequent reason why machines are not ready. Default: that of the condition. */
  readonly unready?: string | undefined;
}

/** What the conditions of an object amount to. */
interface Summary extends Cause {
  readonly type: "ready" | "reconciling" | "stalled";
}

type FindCause = (conditions: readonly Condition[], facts: SummaryFacts) => Cause | undefined;

/** The first line without the bullet of a list and, where it is the title of others, its first cause: all others are in the condition itself. */
function titleOf({ message = "" }: Condition): string {
  const lines = message.split("\n").map((line) => line.trim().replace(/^\* /, ""));
  const cause = lines.findIndex((line) => !line.endsWith(":"));
  return lines.slice(0, cause + 1).join(" ");
}

/** A condition that should not be True: its type is the word. With `False` and `Unknown` for one that should be False. */
const unwanted =
  (type: string, allowed?: "False"): FindCause =>
  (conditions) => {
    const found = findCondition(conditions, type);
    if (found === undefined || (allowed === undefined ? found.status !== "True" : found.status === allowed))
      return undefined;
    return { reason: type, message: titleOf(found) };
  };

/** A condition in this state, whose reason is the word. */
const stated =
  (type: string, status: string, isMeant: (condition: Condition) => boolean = () => true): FindCause =>
  (conditions) => {
    const found = findCondition(conditions, type);
    if (found?.status !== status || !isMeant(found)) return undefined;
    return { reason: found.reason ?? type, message: titleOf(found) };
  };

const awaitsApproval: FindCause = (conditions, facts) => {
  const { reason } = findCondition(conditions, deletionsHeldConditionType) ?? {};
  return reason === deletionsHeldReasons.approvalRequired
    ? unwanted(deletionsHeldConditionType)(conditions, facts)
    : undefined;
};

/** A person has to act, the most important first. */
const stalling: readonly FindCause[] = [
  stated(crdsEstablishedConditionType, "False"),
  stated(writeRefusedConditionType, "True"),
  stated(specValidConditionType, "False"),
  awaitsApproval,
  unwanted(deletionProtectedConditionType),
  stated(legacyConditionTypes.progressing, "False"),
];

const isRollingOut = (conditions: readonly Condition[]): boolean =>
  (findCondition(conditions, types.rollingOut)?.status ?? "False") !== "False";

const gated: FindCause = (conditions, { gate }) => (isRollingOut(conditions) ? gate : undefined);

const isPaused = stated(types.paused, "True");

/** A pause that something waits for. */
const pauseInTheWay: FindCause = (conditions, facts) =>
  isRollingOut(conditions) || findCondition(conditions, types.scalingUp)?.reason === clusterApiReasons.paused
    ? isPaused(conditions, facts)
    : undefined;

const unready: FindCause = (conditions, facts) => {
  const found = findCondition(conditions, types.machinesReady);
  if (found === undefined || found.status === "True") return undefined;
  return { reason: facts.unready ?? found.reason ?? found.type, message: titleOf(found) };
};

/** What is under way, or waits for something else than a person: first what explains the others. */
const reconciling: readonly FindCause[] = [
  stated(types.deleting, "True"),
  unwanted(legacyConditionTypes.frozen),
  stated(legacyConditionTypes.replicaFailure, "True"),
  (_, { failure }) => failure,
  gated,
  pauseInTheWay,
  // What a rate or a pace delays.
  stated(deletionsHeldConditionType, "True"),
  unwanted(types.rollingOut, "False"),
  unwanted(types.scalingUp, "False"),
  unwanted(types.scalingDown, "False"),
  unwanted(types.remediating, "False"),
  unready,
];

/** What the conditions of a set or deployment amount to. */
export function summarize(conditions: readonly Condition[], facts: SummaryFacts): Summary {
  const first = (list: readonly FindCause[]): Cause | undefined => {
    for (const find of list) {
      const cause = find(conditions, facts);
      if (cause !== undefined) return cause;
    }
    return undefined;
  };
  const stalls = first(stalling);
  if (stalls !== undefined) return { type: "stalled", ...stalls };
  const isUnderWay = first(reconciling);
  if (isUnderWay !== undefined) return { type: "reconciling", ...isUnderWay };
  return { type: "ready", ...(isPaused(conditions, facts) ?? { reason: clusterApiReasons.ready, message: "" }) };
}

/** How the summary is written. */
export interface SummaryOptions {
  readonly now: Date;
  readonly generation: number | undefined;
  /** Whether the conditions of this kind have `lastUpdateTime`. */
  readonly updateTime: boolean;
}

/** A list that has all other conditions, with those of the summary: Ready, and at most one of Reconciling and Stalled. */
export function withSummary(
  conditions: readonly Condition[],
  facts: SummaryFacts,
  { now, generation, updateTime }: SummaryOptions,
): readonly Condition[] {
  const { type, reason, message } = summarize(conditions, facts);
  const { ready } = summaryConditionTypes;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return Object.values(summaryConditionTypes).reduce((list, each) => {
    if (each !== ready && each !== summaryConditionTypes[type]) return removeCondition(list, each);
    const status = each === ready && type !== "ready" ? "False" : "True";
    return setCondition(list, { type: each, status, reason, message, ...observed }, { now, updateTime });
  }, conditions);
}

/**
 * The same of an object about which nothing else is decided: the other conditions are as they were stored, and without Cluster API's there is no summary either.
 *
 * @param stored the list as it is stored, whose times stay where nothing changes
 */
export function withSummaryOfHeld(
  conditions: readonly Condition[],
  stored: readonly Condition[] | undefined,
  options: SummaryOptions,
): readonly Condition[] {
  if (findCondition(conditions, types.machinesReady) === undefined) return conditions;
  const before = Object.values(summaryConditionTypes).reduce(
    (list, type) => withStored(list, stored, type),
    conditions,
  );
  return withSummary(before, {}, options);
}
