/** A line of {@link describeBlockers}: pods, and their cause. */
const line = /^\* Pods? [^:]*: (?<phrase>.*)$/;

/** Identifies a cause, regardless of its pods and numbers; `undefined` for progress. */
function causeOf(phrase: string): string | undefined {
  if (phrase.startsWith("cannot evict pod as it would violate the pod's disruption budget."))
    return /PodDisruptionBudgets? .*?(?:can never be met|both select the pod)/.exec(phrase)?.[0] ?? "budget";
  if (phrase.startsWith("deletionTimestamp set, but still not removed from the Node")) {
    if (phrase.includes(": finalizers ")) return phrase;
    return phrase.includes("although its grace period is over") ? "overdue" : undefined;
  }
  if (phrase.startsWith("the Node is unreachable")) return "unreachable";
  if (phrase.startsWith("created on the Node after the drain began")) return "returning";
  if (phrase.startsWith("failed to evict Pod")) return "rejected";
  if (phrase.startsWith("waiting for completion")) return "completion";
  if (phrase.startsWith("no longer waiting for volumes")) return "volumes";
  return undefined;
}

/**
 * The causes in a text of `describeBlockers`, as it is in a status, followed by `end`. Pods that terminate, volumes that move and pods
 * that wait for others are progress, not causes.
 */
export function namedCauses(text: string, end = ""): ReadonlySet<string> {
  const bare = text.endsWith(end) ? text.slice(0, text.length - end.length) : text;
  const causes = bare.split("\n").flatMap((each) => {
    const phrase = line.exec(each.trimEnd())?.groups?.["phrase"];
    const cause = phrase === undefined ? undefined : causeOf(phrase.replace(/\.$/, ""));
    return cause === undefined ? [] : [cause];
  });
  return new Set(causes);
}
