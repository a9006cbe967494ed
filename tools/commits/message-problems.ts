/** Longest first line of a commit message: `git log --oneline` shows it whole in a terminal of 80 columns. */
const MAX_LENGTH = 72;

/** `area: imperative`; an area is a package, a folder or a topic, or several. */
const areaPattern = /^[a-z0-9][\w./-]*(?:, [a-z0-9][\w./-]*)*: \S/;

/** Messages that git writes. */
const isOfGit = (subject: string): boolean => /^(?:Merge|Revert) /.test(subject);

/** What of a commit message breaks the rules in CONTRIBUTING.md. */
export function messageProblems(message: string): readonly string[] {
  const [subject = "", second = ""] = message.split("\n");
  if (isOfGit(subject)) return [];
  return [
    ...(subject.length > MAX_LENGTH
      ? [`its first line has ${subject.length} characters, of at most ${MAX_LENGTH}`]
      : []),
    ...(areaPattern.test(subject)
      ? []
      : ["its first line does not begin with an area, as in `kube: follow redirects`"]),
    ...(/^[^:]*: ?wip\b/i.test(subject) ? ["it does not name what changes"] : []),
    ...(subject.endsWith(".") ? ["its first line ends with a full stop"] : []),
    ...(second === "" ? [] : ["no empty line follows its first line"]),
  ];
}
