import type { Clock } from "@millwright/base";
import { clusterApiConditionTypes, summaryConditionTypes } from "@millwright/core/machine-api";
import { type Condition, equalJson, createOverwriteLimit } from "@millwright/kube";
import type { Decision } from "../model/decision.ts";

/** Minimum time between two writes of messages of conditions and numbers of machines of one object, milliseconds. */
const intervalMs = 1000;

const addedTypes: ReadonlySet<string> = new Set<string>([
  ...Object.values(clusterApiConditionTypes),
  ...Object.values(summaryConditionTypes),
]);

/**
 * The parts of a status that programs act on. Messages of Cluster API's conditions are for users, and change with every machine of a set, as does the time of the last
 * progress.
 */
function withoutText(condition: Condition): Condition {
  const { type, status, observedGeneration } = condition;
  if (addedTypes.has(type))
    return { type, status, ...(observedGeneration === undefined ? {} : { observedGeneration }) };
  const { lastUpdateTime: _, ...others } = condition;
  return others;
}

/** Delays writes of messages and numbers that change with every machine of a large set. */
export interface StatusUpdateThrottle<Status> {
  /**
   * The decision; when its status differs only in messages of Cluster API's conditions and numbers of machines, too soon after another write, without that
   * status and with a requeue for when it is due. A number that ends a rollout changes a condition, and is not delayed.
   * Where another writer changes the status again and again, each write waits.
   */
  hold<Action>(key: string, before: Status | undefined, decision: Decision<Action, Status>): Decision<Action, Status>;
  /** The object was deleted. */
  forget(key: string): void;
}

/**
 * Creates a {@link StatusUpdateThrottle}. It knows only the writes of this process: after a start everything is written at once.
 *
 * @param bare a status without its numbers of machines, with its conditions changed by a function
 */
export function createStatusUpdateThrottle<Status>(
  clock: Pick<Clock, "monotonicMs">,
  bare: (status: Status, change: (condition: Condition) => Condition) => Status,
): StatusUpdateThrottle<Status> {
  const overwrites = createOverwriteLimit<Status>(clock);
  /** When this process wrote to each object last, on the monotonic clock. */
  const writtenMs = new Map<string, number>();
  return {
    hold(key, before, decision) {
      const { status, ...others } = decision;
      if (status === undefined || before === undefined || equalJson(before, status)) return decision;
      const now = clock.monotonicMs();
      const isText = equalJson(bare(before, withoutText), bare(status, withoutText));
      const textDueMs = isText ? (writtenMs.get(key) ?? Number.NEGATIVE_INFINITY) + intervalMs : now;
      const restMs = Math.max(textDueMs, overwrites.dueMs(key, before)) - now;
      if (restMs > 0) return { ...others, requeueAfterMs: Math.min(restMs, decision.requeueAfterMs ?? restMs) };
      overwrites.record(key, before, status);
      writtenMs.set(key, now);
      return decision;
    },
    forget(key) {
      overwrites.forget(key);
      writtenMs.delete(key);
    },
  };
}
