import { labelValueErrors, qualifiedNameErrors } from "../objects/names.ts";

/** One requirement of a label selector. */
export interface Requirement {
  readonly key: string;
  readonly operator: "in" | "notin" | "exists" | "absent" | "gt" | "lt";
  readonly values: readonly string[];
}

type Token = "identifier" | "end" | "in" | "notin" | "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<";

interface Lexeme {
  readonly token: Token;
  readonly text: string;
}

const symbols: ReadonlySet<string> = new Set(["(", ")", ",", "!", "=", "==", "!=", ">", "<"]);

function isSymbol(text: string): text is "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<" {
  return symbols.has(text);
}

/** Splits a selector like Kubernetes' lexer: runs of symbols, and the texts between symbols and blanks. */
function lexemesOf(text: string): readonly Lexeme[] {
  const lexemes: Lexeme[] = [];
  for (const [piece] of text.matchAll(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g)) {
    if (isSymbol(piece)) lexemes.push({ token: piece, text: piece });
    else if (piece === "in" || piece === "notin") lexemes.push({ token: piece, text: piece });
    else lexemes.push({ token: "identifier", text: piece });
  }
  return lexemes;
}

/** The unread rest of a selector. `in` and `notin` are ordinary words where a value is expected. */
interface Lexer {
  look(): Lexeme;
  take(): Lexeme;
  takeOperator(): Lexeme;
}

function createLexer(text: string): Lexer {
  const lexemes = lexemesOf(text);
  let next = 0;
  const current = (): Lexeme => lexemes[next] ?? { token: "end", text: "" };
  const look = (): Lexeme => {
    const lexeme = current();
    return lexeme.token === "in" || lexeme.token === "notin" ? { token: "identifier", text: lexeme.text } : lexeme;
  };
  const advancing = (read: () => Lexeme) => (): Lexeme => {
    const lexeme = read();
    next += 1;
    return lexeme;
  };
  return { look, take: advancing(look), takeOperator: advancing(current) };
}

/**
 * Parses a label selector in its text form (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`), with the grammar and the messages of
 * k8s.io/apimachinery/pkg/labels. Throws an Error with what was found and what was expected.
 */
export function requirementsOf(text: string): readonly Requirement[] {
  const lexer = createLexer(text);
  const requirements: Requirement[] = [];
  for (;;) {
    const { token, text: found } = lexer.look();
    if (token === "end") return requirements;
    if (token !== "identifier" && token !== "!") {
      throw new Error(`found '${found}', expected: !, identifier, or 'end of string'`);
    }
    try {
      requirements.push(readRequirement(lexer));
    } catch (error) {
      throw new Error(`unable to parse requirement: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    const separator = lexer.take();
    if (separator.token === "end") return requirements;
    if (separator.token !== ",") throw new Error(`found '${separator.text}', expected: ',' or 'end of string'`);
    const after = lexer.look();
    if (after.token !== "identifier" && after.token !== "!") {
      throw new Error(`found '${after.text}', expected: identifier after ','`);
    }
  }
}

function readRequirement(lexer: Lexer): Requirement {
  let lexeme = lexer.take();
  const isAbsent = lexeme.token === "!";
  if (isAbsent) lexeme = lexer.take();
  if (lexeme.token !== "identifier") throw new Error(`found '${lexeme.text}', expected: identifier`);
  const key = lexeme.text;
  const errors = qualifiedNameErrors(key);
  if (errors.length > 0) throw new Error(`<nil>: Invalid value: ${JSON.stringify(key)}: ${errors.join("; ")}`);
  if (isAbsent) return { key, operator: "absent", values: [] };
  const { token } = lexer.look();
  if (token === "end" || token === ",") return { key, operator: "exists", values: [] };
  return checked({ key, ...readComparison(lexer) });
}

function readComparison(lexer: Lexer): Pick<Requirement, "operator" | "values"> {
  const operator = lexer.takeOperator();
  switch (operator.token) {
    case "in":
    case "notin":
      return { operator: operator.token, values: readValues(lexer) };
    case "=":
    case "==":
      return { operator: "in", values: readExactValue(lexer) };
    case "!=":
      return { operator: "notin", values: readExactValue(lexer) };
    case ">":
      return { operator: "gt", values: readExactValue(lexer) };
    case "<":
      return { operator: "lt", values: readExactValue(lexer) };
    case "identifier":
    case "end":
    case "(":
    case ")":
    case ",":
    case "!":
      throw new Error(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function readValues(lexer: Lexer): readonly string[] {
  const open = lexer.take();
  if (open.token !== "(") throw new Error(`found '${open.text}' expected: '('`);
  const first = lexer.look();
  if (first.token === ")") {
    lexer.take();
    return [""];
  }
  if (first.token !== "identifier" && first.token !== ",") {
    throw new Error(`found '${first.text}', expected: ',', ')' or identifier`);
  }
  const values = readList(lexer);
  if (lexer.take().token !== ")") throw new Error(`found '${first.text}', expected: ')'`);
  return values;
}

function readList(lexer: Lexer): readonly string[] {
  const values = new Set<string>();
  for (;;) {
    const { token, text: found } = lexer.take();
    if (token === "identifier") {
      values.add(found);
      const after = lexer.look();
      if (after.token === ")") return [...values];
      if (after.token !== ",") throw new Error(`found '${after.text}', expected: ',' or ')'`);
    } else if (token === ",") {
      if (values.size === 0) values.add("");
      if (lexer.look().token === ")") return [...values, ""];
      if (lexer.look().token === ",") {
        lexer.take();
        values.add("");
      }
    } else throw new Error(`found '${found}', expected: ',', or identifier`);
  }
}

function readExactValue(lexer: Lexer): readonly string[] {
  const { token } = lexer.look();
  if (token === "end" || token === ",") return [""];
  const { token: taken, text: value } = lexer.take();
  if (taken !== "identifier") throw new Error(`found '${value}', expected: identifier`);
  return [value];
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  for (const [index, value] of values.entries()) {
    if ((operator === "gt" || operator === "lt") && !/^[-+]?\d+$/.test(value)) {
      throw new Error(
        `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
    const errors = labelValueErrors(value);
    if (errors.length > 0) {
      throw new Error(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${errors.join("; ")}`);
    }
  }
  return requirement;
}
