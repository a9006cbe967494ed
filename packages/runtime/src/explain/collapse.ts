import type { Explanation } from "./explanation.ts";

/** The names in an explanation that differ between siblings, so that the rest can be compared. */
const namesIn = ({ name, children }: Explanation): readonly string[] => [name, ...children.flatMap(namesIn)];

/** What siblings have in common: all but their names, ids and times. */
function shapeOf(explanation: Explanation): string {
  const shape = ({ kind, state, summary, causes, remedy, children }: Explanation): unknown => [
    kind,
    state,
    summary,
    causes.map(({ reason, message }) => [reason, message]),
    remedy?.text,
    children.map(shape),
  ];
  let text = JSON.stringify(shape(explanation));
  for (const name of new Set(namesIn(explanation))) {
    const literal = name.replaceAll(/[^\w-]/g, String.raw`\$&`);
    text = text.replaceAll(new RegExp(String.raw`(?<![\w.-])${literal}(?![\w.-])`, "g"), "*");
  }
  // Ids of VMs end in names, or in something that only the cloud knows.
  return text.replaceAll(/\b[\w-]+:\/\/\/[^\s"\\]*/g, "*");
}

/** One explanation for several of the same shape: it names the others, and each of its children names theirs. */
function mergeAll(first: Explanation, rest: readonly Explanation[]): Explanation {
  const names = new Set([first, ...rest].flatMap(({ name, others }) => [name, ...others]));
  names.delete(first.name);
  return {
    ...first,
    others: [...names],
    children: first.children.map((child, index) =>
      mergeAll(
        child,
        rest.flatMap(({ children }) => children[index] ?? []),
      ),
    ),
  };
}

/** Siblings in the same state become one, which names the others. */
export function collapse(siblings: readonly Explanation[]): readonly Explanation[] {
  const groups = [...Map.groupBy(siblings, shapeOf).values()];
  return groups.flatMap(([first, ...rest]) => (first === undefined ? [] : [mergeAll(first, rest)]));
}
