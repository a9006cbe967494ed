/** The condition that a row expects. */
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

/** One item of a list of docs/project/conditions.md. */
export interface TransitionRow {
  readonly guard: string;
  /** Kinds of actions that the row names; at least one of them follows, sooner or later, in some state that the guard allows. */
  readonly actions: readonly string[];
  readonly transition: Transition;
  /** Name of the time at which time alone changes the text; absent when only a change of an object can. */
  readonly next?: string;
}

/** One condition of docs/project/conditions.md. */
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

const conditionPattern = /^(?<type>\w+)=(?<status>\w+); Reason=(?<reason>\w+); Message="(?<message>.*?)"$/;

function readTransition(text: string, hasGeneration: boolean): Transition {
  if (text === "absent" || text === "unchanged" || text === "not written") return { kind: text };
  const { type, status, reason, message } = conditionPattern.exec(codeIn(text)[0] ?? "")?.groups ?? {};
  if (type === undefined || status === undefined || reason === undefined || message === undefined)
    throw new SyntaxError(`not a transition: ${text}`);
  return { kind: "condition", type, status, reason, message: message.replaceAll("\\n", "\n"), hasGeneration };
}

/** A guard, the transition below it, and optional actions and times. */
function readRow(item: string, hasGeneration: boolean): TransitionRow {
  const [guard = "", transition = "", ...more] = item.split("\n").map((line) => line.trim().replace(/^- /, ""));
  const partOf = (name: string): string => more.find((line) => line.startsWith(name)) ?? "";
  const next = codeIn(partOf("Next: "))[0];
  return {
    guard: codeIn(guard)[0] ?? "",
    actions: codeIn(partOf("Ensure: ")).filter((code) => /^(Create|Delete|Patch|Remove)[A-Z]/.test(code)),
    transition: readTransition(transition, hasGeneration),
    ...(next === undefined ? {} : { next }),
  };
}

/** Reads the lists of the page: a heading, whose conditions they are, and an item for each guard. */
export function readTransitionTables(page: string): readonly TransitionTable[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const owners = /^Of ([\w ]+)\./m.exec(section)?.[1]?.split(" and ") ?? [];
      const items = section.match(/^- `[^`]+`\n(?: {2}- .*(?:\n|$))+/gm) ?? [];
      if (owners.length === 0 || items.length === 0) return [];
      const hasGeneration = !section.includes("A condition of MCM");
      return [
        {
          type: section.split("\n")[0] ?? "",
          owners,
          isOrdered: section.includes("The first row whose guard holds"),
          rows: items.map((item) => readRow(item.trimEnd(), hasGeneration)),
        },
      ];
    });
}

function valueOf(name: string, values: Values): number | string | boolean {
  if (/^\d+$/.test(name)) return Number(name);
  const value = values[name];
  if (value === undefined) throw new ReferenceError(`unknown name ${name}`);
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
