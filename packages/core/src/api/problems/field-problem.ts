/** What is wrong with a field: it is missing, has a wrong value, a value outside a closed set, is too long, or may not be set. */
export type FieldProblemKind = "required" | "invalid" | "notSupported" | "tooLong" | "forbidden";

/** One problem of an object. Problems come as lists: all of them, not the first. */
export interface FieldProblem {
  /** Path of the field as a person writes it: `spec.template.spec.class.name`, `spec.selector.matchExpressions[0].key`. */
  readonly path: string;
  /** What is wrong and what is expected, without the path. */
  readonly message: string;
  readonly kind: FieldProblemKind;
}

/** Joins a field or an index to a path. A key that is no plain word is put in brackets: `metadata.labels[a.b/c]`. */
export function joinPath(path: string, key: PropertyKey): string {
  if (typeof key === "number") return `${path}[${key}]`;
  const word = String(key);
  if (!/^[A-Za-z_][\w-]*$/.test(word)) return `${path}[${word.slice(0, 128)}]`;
  return path === "" ? word : `${path}.${word}`;
}

/** All problems in one line, `path: message`, in the order given: kubectl cuts the columns of objects and events at the first line break. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  return problems.map((problem) => `${problem.path}: ${problem.message}`).join("; ");
}

/** A text from an object in quotes, cut so that a hostile one does not fill a status. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
