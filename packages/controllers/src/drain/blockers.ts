/** Something that a drain waits for. `pod` is its namespace and name. */
export type Blocker =
  /** Told to go, or on its way out. */
  | { readonly kind: "leaving"; readonly pod: string }
  /** Came to the node after the drain began, and would come again. */
  | { readonly kind: "returning"; readonly pod: string }
  /** Should have gone: something holds it. */
  | { readonly kind: "overdue"; readonly pod: string; readonly finalizers: readonly string[] }
  | { readonly kind: "completion"; readonly pod: string }
  | {
      readonly kind: "budget";
      readonly pod: string;
      readonly cause: "waiting" | "misconfigured" | "ambiguous";
      readonly message: string;
    }
  /** The API server said no, or nothing. */
  | { readonly kind: "rejected"; readonly pod: string; readonly message: string }
  /** The driver has not said yet which of its volumes have to be followed. */
  | { readonly kind: "lookup"; readonly pod: string }
  /** Waits until the pod with volumes before it serves again. */
  | { readonly kind: "turn"; readonly pod: string }
  /** Waits until pods of a lower order have left. */
  | { readonly kind: "order"; readonly pod: string }
  | {
      readonly kind: "detaching" | "reattaching";
      readonly pod: string;
      readonly volumes: readonly string[];
      readonly isOverdue: boolean;
    };

/** Whether it waits for a person: time alone will not help before a deadline. */
export const isStuck = (blocker: Blocker): boolean =>
  blocker.kind === "overdue" ||
  blocker.kind === "returning" ||
  (blocker.kind === "budget" && blocker.cause !== "waiting");

/** At most this many pods of one kind are named. */
const NAMED_PODS = 3;

/** At most this many lines: a status is read by people. */
const MAX_LINES = 12;

function phraseOf(blocker: Blocker): string {
  switch (blocker.kind) {
    case "leaving":
      return "deletionTimestamp set, but still not removed from the Node";
    case "returning":
      return "created on the Node after the drain began, so it tolerates the cordon and will come back; change its tolerations";
    case "overdue":
      return blocker.finalizers.length === 0
        ? "deletionTimestamp set, but still not removed from the Node although its grace period is over"
        : `deletionTimestamp set, but still not removed from the Node: finalizers ${blocker.finalizers.join(", ")}`;
    case "completion":
      return "waiting for completion";
    case "budget":
      return `cannot evict pod as it would violate the pod's disruption budget. ${blocker.message}`;
    case "rejected":
      return `failed to evict Pod, ${blocker.message}`;
    case "lookup":
      return "waiting for the driver to name its volumes";
    case "turn":
      return "waiting for the pod with volumes before it";
    case "order":
      return "waiting for pods of a lower order";
    case "detaching":
      return `${blocker.isOverdue ? "no longer waiting for" : "waiting for"} volumes ${blocker.volumes.join(", ")} to be detached`;
    case "reattaching":
      return `waiting for volumes ${blocker.volumes.join(", ")} to be attached elsewhere`;
  }
}

/** What needs a person comes first, what passes by itself last. */
const rank: Readonly<Record<Blocker["kind"], number>> = {
  budget: 0,
  returning: 1,
  overdue: 2,
  rejected: 3,
  completion: 4,
  detaching: 5,
  reattaching: 6,
  leaving: 7,
  lookup: 8,
  turn: 9,
  order: 10,
};

/** What holds a drain up, for people: one line per cause with the pods it concerns, what needs a person first; at most a dozen. */
export function blockerLines(blockers: readonly Blocker[]): readonly string[] {
  const byPhrase = Map.groupBy(
    blockers.toSorted((a, b) => rank[a.kind] - rank[b.kind]),
    // An API server may say something in several lines, of which each would be a cause.
    (blocker) => phraseOf(blocker).replace(/\s+/g, " ").trim(),
  );
  const lines = [...byPhrase].map(([phrase, group]) => {
    const pods = [...new Set(group.map(({ pod }) => pod))].toSorted();
    const rest = pods.length - NAMED_PODS;
    const names = `${pods.slice(0, NAMED_PODS).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    return `* Pod${pods.length > 1 ? "s" : ""} ${names}: ${phrase}`;
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `* and ${more} more`] : lines;
}

/**
 * Says what holds a drain up, in the form and with the phrases of Cluster API, which its conditions and people's tools look for. Absent when nothing does.
 */
export function describeBlockers(blockers: readonly Blocker[], startedAt: Date): string | undefined {
  if (blockers.length === 0) return undefined;
  const start = `${startedAt.toISOString().slice(0, 19)}Z`;
  return [`Drain not completed yet (started at ${start}):`, ...blockerLines(blockers)].join("\n");
}
