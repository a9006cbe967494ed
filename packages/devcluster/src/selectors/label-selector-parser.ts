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

/**
 * Parses a label selector in its text form (`a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`), with the grammar and the messages of
 * k8s.io/apimachinery/pkg/labels. Throws an Error with what was found and what was expected.
 */
export function requirementsOf(text: string): readonly Requirement[] {
  const lexemes = lexemesOf(text);
  let next = 0;
  /** `in` and `notin` are ordinary words where a value is expected. */
  const look = (asOperator = false): Lexeme => {
    const lexeme = lexemes[next] ?? { token: "end", text: "" };
    const isWord = !asOperator && (lexeme.token === "in" || lexeme.token === "notin");
    return isWord ? { token: "identifier", text: lexeme.text } : lexeme;
  };
  const take = (asOperator = false): Lexeme => {
    const lexeme = look(asOperator);
    next += 1;
    return lexeme;
  };

  const readList = (): readonly string[] => {
    const values = new Set<string>();
    for (;;) {
      const { token, text: found } = take();
      if (token === "identifier") {
        values.add(found);
        const after = look();
        if (after.token === ")") return [...values];
        if (after.token !== ",") throw new Error(`found '${after.text}', expected: ',' or ')'`);
      } else if (token === ",") {
        if (values.size === 0) values.add("");
        if (look().token === ")") return [...values, ""];
        if (look().token === ",") {
          take();
          values.add("");
        }
      } else throw new Error(`found '${found}', expected: ',', or identifier`);
    }
  };
  const readValues = (): readonly string[] => {
    const open = take();
    if (open.token !== "(") throw new Error(`found '${open.text}' expected: '('`);
    const first = look();
    if (first.token === ")") {
      take();
      return [""];
    }
    if (first.token !== "identifier" && first.token !== ",") {
      throw new Error(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = readList();
    if (take().token !== ")") throw new Error(`found '${first.text}', expected: ')'`);
    return values;
  };
  const readExactValue = (): readonly string[] => {
    const { token } = look();
    if (token === "end" || token === ",") return [""];
    const { token: taken, text: value } = take();
    if (taken !== "identifier") throw new Error(`found '${value}', expected: identifier`);
    return [value];
  };
  const readRequirement = (): Requirement => {
    let lexeme = take();
    const isAbsent = lexeme.token === "!";
    if (isAbsent) lexeme = take();
    if (lexeme.token !== "identifier") throw new Error(`found '${lexeme.text}', expected: identifier`);
    const key = lexeme.text;
    const errors = qualifiedNameErrors(key);
    if (errors.length > 0) throw new Error(`<nil>: Invalid value: ${JSON.stringify(key)}: ${errors.join("; ")}`);
    if (isAbsent) return { key, operator: "absent", values: [] };
    if (look().token === "end" || look().token === ",") return { key, operator: "exists", values: [] };
    const operator = take(true);
    switch (operator.token) {
      case "in":
      case "notin":
        return checked({ key, operator: operator.token, values: readValues() });
      case "=":
      case "==":
        return checked({ key, operator: "in", values: readExactValue() });
      case "!=":
        return checked({ key, operator: "notin", values: readExactValue() });
      case ">":
        return checked({ key, operator: "gt", values: readExactValue() });
      case "<":
        return checked({ key, operator: "lt", values: readExactValue() });
      case "identifier":
      case "end":
      case "(":
      case ")":
      case ",":
      case "!":
        throw new Error(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  };

  const requirements: Requirement[] = [];
  for (;;) {
    const { token, text: found } = look();
    if (token === "end") return requirements;
    if (token !== "identifier" && token !== "!") {
      throw new Error(`found '${found}', expected: !, identifier, or 'end of string'`);
    }
    try {
      requirements.push(readRequirement());
    } catch (error) {
      throw new Error(`unable to parse requirement: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    const separator = take();
    if (separator.token === "end") return requirements;
    if (separator.token !== ",") throw new Error(`found '${separator.text}', expected: ',' or 'end of string'`);
    const after = look();
    if (after.token !== "identifier" && after.token !== "!") {
      throw new Error(`found '${after.text}', expected: identifier after ','`);
    }
  }
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
