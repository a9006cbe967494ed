import {
  causeKey,
  type DrainCause,
  isReported as isTextReported,
  machineEventReasons,
  readOperation,
} from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import { type Blocker, blockerLines, causesOf, describedCauses, isStuck } from "../../drain/blockers.ts";
import type { DrainProgress } from "../../drain/decide-drain.ts";
import { statusOf } from "../../model/status-change.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** What a drain in progress reports. */
export interface DrainStatusUpdate {
  /** The new description; absent: the current one is kept. */
  readonly message?: string;
  /** What it names. */
  readonly causes: readonly DrainCause[];
  readonly because: readonly Reason[];
  /** Until throttled progress may be written. */
  readonly requeueAfterMs: number;
}

/** Progress is written at most this often, milliseconds: otherwise a node with a hundred pods would cost as many writes as evictions. */
const PROGRESS_MS = 10_000;

const isWorthAnEvent = (blocker: Blocker): boolean => isStuck(blocker) || blocker.kind === "rejected";

/**
 * One event for each cause that the status is going to name and does not name yet, so that each cause is reported once, also across processes. Causes
 * that do not fit into the status are reported when they do: only the status records which were reported.
 */
function reasonsFor(
  blockers: readonly Blocker[],
  causes: ReadonlySet<string>,
  reported: ReadonlySet<string>,
  nodeName: string,
): readonly Reason[] {
  const fresh = blockers.filter(isWorthAnEvent).filter((blocker) =>
    causesOf(blocker)
      .map(causeKey)
      .some((key) => causes.has(key) && !reported.has(key)),
  );
  return blockerLines(fresh).map((line) => ({
    type: "Warning",
    reason: machineEventReasons.drainBlocked,
    message: `Drain of node ${nodeName} is blocked: ${line.replace(/^\* /, "")}`,
  }));
}

/** The causes that are reported when they are new. That pods terminate is progress. */
const keysOf = (causes: readonly DrainCause[]): ReadonlySet<string> =>
  new Set(causes.filter(({ reason }) => reason !== "PodsTerminating").map(causeKey));

/** The event about ignored rules, once per problem. */
export const drainRuleEvents = ({
  drainRulesProblem: message,
  reported,
}: Pick<MachineSnapshot, "drainRulesProblem" | "reported">): readonly Reason[] =>
  message === undefined || message === reported.get(machineEventReasons.invalidDrainRules)
    ? []
    : [{ type: "Warning", reason: machineEventReasons.invalidDrainRules, message }];

/** Compares a drain with the machine's last operation: new causes are reported at once, progress is throttled. */
export function drainStatusUpdate(
  snapshot: Pick<MachineSnapshot, "machine" | "node" | "drainRulesProblem" | "reported">,
  { blockers, message }: Extract<DrainProgress, { readonly state: "draining" }>,
  now: Date,
): DrainStatusUpdate {
  const { status } = snapshot.machine;
  const operation = readOperation(status);
  const isReported = operation.reason === "Draining";
  const reported = keysOf((isReported ? operation.causes : undefined) ?? []);
  const nodeName = snapshot.node?.metadata.name ?? "";
  const causes = describedCauses(blockers);
  const keys = keysOf(causes);
  const because = [...drainRuleEvents(snapshot), ...reasonsFor(blockers, keys, reported, nodeName)];
  if (message === undefined) return { because, causes, requeueAfterMs: Number.POSITIVE_INFINITY };
  const heldUntil = Date.parse(status?.lastOperation?.lastUpdateTime ?? "") + PROGRESS_MS;
  const isProgress = isReported && keys.size === reported.size && [...keys].every((cause) => reported.has(cause));
  if (isProgress && now.getTime() < heldUntil) {
    const isSame = isTextReported(statusOf(snapshot.machine), message, operation.stage);
    return { because, causes, requeueAfterMs: isSame ? Number.POSITIVE_INFINITY : heldUntil - now.getTime() };
  }
  return { message, because, causes, requeueAfterMs: Number.POSITIVE_INFINITY };
}
