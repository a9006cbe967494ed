import { type DrainCause, uniqueCauses } from "@millwright/core/machine-api";

/** Something that a drain waits for. `pod` is its namespace and name. */
export type Blocker =
  /** Terminating, or its eviction was requested. */
  | { readonly kind: "leaving"; readonly pod: string }
  /** Created on the node after its cordon, although it does not tolerate that: by a client that does not use the scheduler. */
  | { readonly kind: "returning"; readonly pod: string }
  /** Terminating for too long. */
  | { readonly kind: "overdue"; readonly pod: string; readonly finalizers: readonly string[] }
  /** The drain is due to be forced, but the containers of the pod may be running on a node that is unreachable. */
  | { readonly kind: "unreachable"; readonly pod: string }
  | { readonly kind: "completion"; readonly pod: string }
  | {
      readonly kind: "budget";
      readonly pod: string;
      readonly cause: "waiting" | "misconfigured" | "ambiguous";
      readonly message: string;
      /** Names of the budgets that have to change; absent: none has. */
      readonly budgets?: readonly string[];
    }
  /** The API server rejected the eviction, or did not answer. */
  | { readonly kind: "rejected"; readonly pod: string; readonly message: string }
  /** The driver has not identified the volumes of the pod yet. */
  | { readonly kind: "lookup"; readonly pod: string }
  /** Waits for the replacement of another pod with volumes. */
  | { readonly kind: "turn"; readonly pod: string }
  /** Waits for pods of a lower order to terminate. */
  | { readonly kind: "order"; readonly pod: string }
  | {
      readonly kind: "detaching" | "reattaching";
      readonly pod: string;
      readonly volumes: readonly string[];
      readonly isOverdue: boolean;
    };

/** Whether a user has to act: otherwise nothing changes before a deadline. */
export const isStuck = (blocker: Blocker): boolean =>
  blocker.kind === "overdue" ||
  blocker.kind === "unreachable" ||
  blocker.kind === "returning" ||
  (blocker.kind === "budget" && blocker.cause !== "waiting");

/** Maximum number of pods named per cause. */
const NAMED_PODS = 3;

/** Maximum number of lines. */
const MAX_LINES = 12;

function phraseOf(blocker: Blocker): string {
  switch (blocker.kind) {
    case "leaving":
      return "deletionTimestamp set, but still not removed from the Node";
    case "returning":
      return "created on the Node after the drain began although it does not tolerate the cordon; it is evicted every 30s";
    case "overdue":
      return blocker.finalizers.length === 0
        ? "deletionTimestamp set, but still not removed from the Node although its grace period is over"
        : `deletionTimestamp set, but still not removed from the Node: finalizers ${blocker.finalizers.join(", ")}`;
    case "unreachable":
      return "the Node is unreachable, nothing on it is deleted by force while its VM may be running";
    case "completion":
      return "waiting for completion";
    case "budget":
      return `cannot evict pod as it would violate the pod's disruption budget. ${blocker.message}`;
    case "rejected":
      return `failed to evict Pod, ${blocker.message}`;
    case "lookup":
      return "waiting for the driver to identify its volumes";
    case "turn":
      return "waiting for another pod with volumes to be replaced";
    case "order":
      return "waiting for pods of a lower order to terminate";
    case "detaching":
      return `${blocker.isOverdue ? "no longer waiting for" : "waiting for"} volumes ${blocker.volumes.join(", ")} to be detached`;
    case "reattaching":
      return `waiting for volumes ${blocker.volumes.join(", ")} to be attached elsewhere`;
  }
}

/** Causes that a user has to resolve come first, those that resolve themselves last. */
const rank: Readonly<Record<Blocker["kind"], number>> = {
  budget: 0,
  returning: 1,
  unreachable: 2,
  overdue: 3,
  rejected: 4,
  completion: 5,
  detaching: 6,
  reattaching: 7,
  leaving: 8,
  lookup: 9,
  turn: 10,
  order: 11,
};

/** Blockers by phrase, in the order of their rank. */
const groupsOf = (blockers: readonly Blocker[]): ReadonlyMap<string, readonly Blocker[]> =>
  Map.groupBy(
    blockers.toSorted((a, b) => rank[a.kind] - rank[b.kind]),
    // Each line would be a cause, so a message of several lines is joined.
    (blocker) => phraseOf(blocker).replace(/\s+/g, " ").trim(),
  );

const causes: Partial<Readonly<Record<Blocker["kind"], DrainCause["reason"]>>> = {
  leaving: "PodsTerminating",
  returning: "PodsReturning",
  overdue: "PodsOverdue",
  unreachable: "NodeUnreachable",
  completion: "PodsNotCompleted",
  budget: "DisruptionBudget",
  rejected: "EvictionFailed",
  detaching: "VolumesAttached",
};

/** The cause, regardless of pods and numbers; none for progress, except for pods that terminate. */
export function causesOf(blocker: Blocker): readonly DrainCause[] {
  const reason = causes[blocker.kind];
  if (reason === undefined || (blocker.kind === "detaching" && !blocker.isOverdue)) return [];
  const budgets = blocker.kind === "budget" && blocker.cause !== "waiting" ? (blocker.budgets ?? []) : [];
  const subject = blocker.kind === "overdue" ? blocker.finalizers.join(", ") : budgets.join(" and ");
  return [{ reason, ...(subject === "" ? {} : { subject }) }];
}

/** The causes that {@link describeBlockers} names. */
export const describedCauses = (blockers: readonly Blocker[]): readonly DrainCause[] =>
  uniqueCauses(
    [...groupsOf(blockers).values()].slice(0, MAX_LINES).flatMap((group) => group.slice(0, 1).flatMap(causesOf)),
  );

/** What blocks a drain, for people: one line per cause with its pods, in the order of their rank; at most a dozen. */
export function blockerLines(blockers: readonly Blocker[]): readonly string[] {
  const byPhrase = groupsOf(blockers);
  const lines = [...byPhrase].map(([phrase, group]) => {
    const pods = [...new Set(group.map(({ pod }) => pod))].toSorted();
    const rest = pods.length - NAMED_PODS;
    const names = `${pods.slice(0, NAMED_PODS).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    return `* Pod${pods.length > 1 ? "s" : ""} ${names}: ${phrase}`;
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `* and ${more} more`] : lines;
}

const headingOf = (startedAt: Date): string =>
  `Drain not completed yet (started at ${startedAt.toISOString().slice(0, 19)}Z):`;

/** Describes a drain that knows of no pod to evict, while the API server cannot be asked whether there is one. */
export const describeUnknownPods = (startedAt: Date): string =>
  `${headingOf(startedAt)}\n* Cannot read the pods of the Node: the API server is unreachable`;

/**
 * Describes what blocks a drain, in the format and with the phrases of Cluster API, which its conditions and other tools match. Absent when nothing does.
 */
export function describeBlockers(blockers: readonly Blocker[], startedAt: Date): string | undefined {
  if (blockers.length === 0) return undefined;
  return [headingOf(startedAt), ...blockerLines(blockers)].join("\n");
}
