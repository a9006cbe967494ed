import type { Environment, ParseResult } from "@marcbachmann/cel-js";
import { field, type Json, stringAt } from "../../json/json.ts";
import { ruleEnvironments } from "./cel-environment.ts";
import { patternError, withGoMatches } from "./go-matches.ts";
import { measure } from "./rule-shape.ts";

/** A compiled rule of `x-kubernetes-validations`. */
export interface CompiledRule {
  readonly rule: string;
  readonly evaluate: ParseResult;
  readonly message: string;
  readonly messageExpression: ParseResult | undefined;
  readonly reason: string;
  readonly fieldPath: string;
  /** A transition rule: it runs on updates only, unless `optionalOldSelf` is set. */
  readonly usesOldSelf: boolean;
  readonly optionalOldSelf: boolean;
  /** Nodes of the expression and the depth of its loops, which its cost is estimated by. */
  readonly nodes: number;
  readonly loopDepth: number;
}

/** An error of a rule, with its place. */
export interface RuleProblem {
  readonly field: "rule" | "messageExpression";
  readonly message: string;
}

/** Compiles a rule; returns its error when it does not compile. */
export function compileRule(declaration: Json): CompiledRule | RuleProblem {
  const rule = stringAt(declaration, "rule")?.trim() ?? "";
  const messageRule = stringAt(declaration, "messageExpression")?.trim() ?? "";
  const { plain, optional } = ruleEnvironments();
  const environment = field(declaration, "optionalOldSelf") === true ? optional : plain;
  const compiled = compile(environment, rule);
  if (typeof compiled === "string") return { field: "rule", message: compiled };
  const { type } = compiled.check();
  if (type !== "bool" && type !== "dyn") {
    return { field: "rule", message: "cel expression must evaluate to a bool" };
  }
  const messageExpression = messageRule === "" ? undefined : compile(environment, messageRule);
  if (typeof messageExpression === "string") return { field: "messageExpression", message: messageExpression };
  const shape = measure(compiled.ast, 0);
  const message = stringAt(declaration, "message") ?? "";
  return {
    rule,
    evaluate: compiled,
    message: message === "" ? `failed rule: ${rule}` : message,
    messageExpression,
    reason: stringAt(declaration, "reason") ?? "FieldValueInvalid",
    fieldPath: stringAt(declaration, "fieldPath") ?? "",
    usesOldSelf: shape.usesOldSelf,
    optionalOldSelf: field(declaration, "optionalOldSelf") === true,
    nodes: shape.nodes,
    loopDepth: shape.depth,
  };
}

/** Whether the result is a compiled rule, not an error. */
export function isCompiled(result: CompiledRule | RuleProblem): result is CompiledRule {
  return "evaluate" in result;
}

function compile(environment: Environment, expression: string): ParseResult | string {
  try {
    const written = environment.parse(expression);
    const invalidPattern = patternError(written.ast);
    if (invalidPattern !== undefined) return invalidPattern;
    const parsed = environment.parse(withGoMatches(expression, written.ast));
    const { valid, error } = parsed.check();
    return valid ? parsed : `compilation failed: ${firstLine(error)}`;
  } catch (error) {
    return `compilation failed: ${firstLine(error)}`;
  }
}

/** The first line of an error. The library appends the source. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0] ?? "";
}
