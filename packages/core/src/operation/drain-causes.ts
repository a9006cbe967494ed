import type { DrainCause } from "./operation-details.ts";

/** The phrases of versions without details, which are those of Cluster API. The group is the subject. */
const phrases: readonly (readonly [DrainCause["reason"], RegExp])[] = [
  [
    "DisruptionBudget",
    /cannot evict pod as it would violate the pod's disruption budget(?:.*?PodDisruptionBudgets? (.*?) (?:can never be met|both select the pod))?/,
  ],
  ["PodsOverdue", /deletionTimestamp set, but still not removed from the Node: finalizers (.*)/],
  ["PodsOverdue", /deletionTimestamp set, but still not removed from the Node although its grace period is over/],
  ["PodsTerminating", /deletionTimestamp set, but still not removed from the Node/],
  ["NodeUnreachable", /the Node is unreachable/],
  ["PodsReturning", /created on the Node after the drain began/],
  ["EvictionFailed", /failed to evict Pod/],
  ["PodsNotCompleted", /waiting for completion/],
  ["VolumesAttached", /no longer waiting for volumes/],
];

function causesOf(line: string): readonly DrainCause[] {
  for (const [reason, pattern] of phrases) {
    const [found, subject] = pattern.exec(line) ?? [];
    if (found !== undefined) return [{ reason, ...(subject === undefined ? {} : { subject }) }];
  }
  return [];
}

/** Identifies a cause. */
export const causeKey = ({ reason, subject = "" }: DrainCause): string => `${reason}/${subject}`;

/** Each cause once. */
export const uniqueCauses = (causes: readonly DrainCause[]): readonly DrainCause[] => [
  ...new Map(causes.map((cause) => [causeKey(cause), cause])).values(),
];

/** The causes in the lines of a description of a drain that a version without details wrote. */
export const drainCausesIn = (text: string): readonly DrainCause[] => uniqueCauses(text.split("\n").flatMap(causesOf));
