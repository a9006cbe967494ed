/** A line of {@link describeBlockers}: pods, and what is said of them. */
const line = /^\* Pods? [^:]*: (?<phrase>.*)$/;

/** What says the same of a cause, whichever pods it concerns and however the numbers stand; `undefined` for mere progress. */
function causeOf(phrase: string): string | undefined {
  if (phrase.startsWith("cannot evict pod as it would violate the pod's disruption budget."))
    return /budgets? .*?(?:can never be met|both select it)/.exec(phrase)?.[0] ?? "budget";
  if (phrase.startsWith("deletionTimestamp set, but still not removed from the Node")) {
    if (phrase.includes(": finalizers ")) return phrase;
    return phrase.includes("although its grace period is over") ? "overdue" : undefined;
  }
  if (phrase.startsWith("created on the Node after the drain began")) return "returning";
  if (phrase.startsWith("failed to evict Pod")) return "rejected";
  if (phrase.startsWith("waiting for completion")) return "completion";
  if (phrase.startsWith("no longer waiting for volumes")) return "volumes";
  return undefined;
}

/**
 * The causes that a text of `describeBlockers` names, as it stands in a status, with whatever stands behind it. Progress is not among them: that pods leave, volumes move and
 * others wait for their turn is what a drain is.
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
