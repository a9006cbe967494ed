import { parseSync, type Comment } from "oxc-parser";

/**
 * The doc comments of the entries of one exported object literal (`export const NAME = { … } as const`), by the name of the entry, as plain
 * text on one line. Entries without a comment are missing. Throws when the file does not parse or has no such object.
 */
export function readEntryComments(file: string, source: string, name: string): ReadonlyMap<string, string> {
  const { program, comments, errors } = parseSync(file, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  for (const statement of program.body) {
    if (statement.type !== "ExportNamedDeclaration" || statement.declaration?.type !== "VariableDeclaration") continue;
    for (const { id, init } of statement.declaration.declarations) {
      if (id.type !== "Identifier" || id.name !== name) continue;
      const literal = withoutAssertions(init);
      if (literal?.type !== "ObjectExpression") break;
      const found = new Map<string, string>();
      for (const property of literal.properties) {
        if (property.type !== "Property" || property.key.type !== "Identifier") continue;
        const comment = comments.find((each) => isDocOf(each, property.start, source));
        if (comment !== undefined) found.set(property.key.name, plainText(comment));
      }
      return found;
    }
  }
  throw new Error(`${file}: exports no object literal "${name}"`);
}

type Expression = Extract<
  ReturnType<typeof parseSync>["program"]["body"][number],
  { type: "ExpressionStatement" }
>["expression"];

/** What is asserted by `as const` and `satisfies`. */
function withoutAssertions(expression: Expression | null): Expression | undefined {
  if (expression === null) return undefined;
  return expression.type === "TSAsExpression" || expression.type === "TSSatisfiesExpression"
    ? withoutAssertions(expression.expression)
    : expression;
}

const isDocOf = (comment: Comment, start: number, source: string): boolean =>
  comment.type === "Block" &&
  comment.value.startsWith("*") &&
  comment.end <= start &&
  source.slice(comment.end, start).trim() === "";

const plainText = ({ value }: Comment): string =>
  value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .filter((line) => line !== "")
    .join(" ");
