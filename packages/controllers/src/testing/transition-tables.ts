/** What a row says that a condition is. */
export type Transition =
  | { readonly kind: "absent" | "unchanged" | "not written" }
  | {
      readonly kind: "condition";
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      /** With names in angle brackets for what depends on the state. */
      readonly message: string;
      readonly hasGeneration: boolean;
    };

/** One row of a table of docs/conditions.md. */
export interface TransitionRow {
  readonly guard: string;
  /** Kinds of actions that the row names; at least one of them follows, sooner or later, in some state that the guard allows. */
  readonly actions: readonly string[];
  readonly transition: Transition;
  /** Name of the time at which time alone changes the text; absent when only a change of an object can. */
  readonly next?: string;
}

/** One condition of docs/conditions.md. */
export interface TransitionTable {
  readonly type: string;
  readonly owners: readonly string[];
  /** Whether the first row whose guard holds counts; else exactly one must hold. */
  readonly isOrdered: boolean;
  readonly rows: readonly TransitionRow[];
}

/** Values of the names in guards and texts. */
export type Values = Readonly<Record<string, number | string | boolean>>;

const codeIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const conditionPattern =
  /^(?<type>\w+)=(?<status>\w+); Reason=(?<reason>\w+); Message="(?<message>.*?)"(?<generation>; ObservedGeneration=metadata\.generation)?$/;

function readTransition(cell: string): Transition {
  if (cell === "absent" || cell === "unchanged" || cell === "not written") return { kind: cell };
  const { type, status, reason, message, generation } = conditionPattern.exec(codeIn(cell)[0] ?? "")?.groups ?? {};
  if (type === undefined || status === undefined || reason === undefined || message === undefined)
    throw new SyntaxError(`no transition: ${cell}`);
  const text = message.replaceAll("\\n", "\n");
  return { kind: "condition", type, status, reason, message: text, hasGeneration: generation !== undefined };
}

function readRow(line: string): TransitionRow {
  const [guard = "", ensure = "", transition = "", next = ""] = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  const time = codeIn(next)[0];
  if (time === undefined && next !== "none") throw new SyntaxError(`no time: ${next}`);
  return {
    guard: codeIn(guard)[0] ?? "",
    actions: codeIn(ensure).filter((code) => /^(Create|Delete|Patch|Remove)[A-Z]/.test(code)),
    transition: readTransition(transition),
    ...(time === undefined ? {} : { next: time }),
  };
}

/** Reads the tables of the page: a heading, whose conditions they are, and rows after the heading `Guard`. */
export function readTransitionTables(page: string): readonly TransitionTable[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const lines = section.split("\n");
      const start = lines.findIndex((line) => line.startsWith("| Guard"));
      if (start < 0) return [];
      const rows = lines.slice(start + 2);
      const end = rows.findIndex((line) => !line.startsWith("|"));
      const owners = /^Of ([\w ]+)\./m.exec(section)?.[1]?.split(" and ") ?? [];
      const isOrdered = section.includes("The first row whose guard holds");
      return [{ type: lines[0] ?? "", owners, isOrdered, rows: rows.slice(0, end < 0 ? undefined : end).map(readRow) }];
    });
}

function valueOf(name: string, values: Values): number | string | boolean {
  if (/^\d+$/.test(name)) return Number(name);
  const value = values[name];
  if (value === undefined) throw new ReferenceError(`nobody knows ${name}`);
  return value;
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
};

/** Whether a guard holds: comparisons of names and numbers, and names that are true or, with `!`, false; all must hold. */
export const holds = (guard: string, values: Values): boolean =>
  guard.split(" && ").every((term) => {
    const [left = "", operator, right = ""] = term.split(" ");
    if (operator === undefined) {
      const value = valueOf(left.replace("!", ""), values);
      if (typeof value !== "boolean") throw new TypeError(`${left} is neither true nor false`);
      return left.startsWith("!") !== value;
    }
    const compare = comparisons[operator];
    if (compare === undefined) throw new SyntaxError(`no comparison: ${operator}`);
    return compare(Number(valueOf(left, values)), Number(valueOf(right, values)));
  });

/** A text with the values of the names in it. */
export const filled = (text: string, values: Values): string =>
  text.replaceAll(/<(\w+)>/g, (_, name: string) => String(valueOf(name, values)));
