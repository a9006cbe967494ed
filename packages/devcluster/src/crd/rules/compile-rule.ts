import type { ParseResult } from "@marcbachmann/cel-js";
import { field, type Json, stringAt } from "../../json/json.ts";
import { ruleEnvironment, withGoMatches } from "./cel-environment.ts";

/** A compiled rule of `x-kubernetes-validations`. */
export interface CompiledRule {
  readonly evaluate: ParseResult;
  readonly message: string;
  /** A transition rule: it runs on updates only. */
  readonly usesOldSelf: boolean;
}

/** Compiles a rule; returns its error when it does not compile. */
export function compileRule(declaration: Json): CompiledRule | string {
  const rule = stringAt(declaration, "rule")?.trim() ?? "";
  if (rule === "") return "rule is not specified";
  if (field(declaration, "optionalOldSelf") === true) return "optionalOldSelf is not supported by this server";
  try {
    const evaluate = ruleEnvironment().parse(withGoMatches(rule));
    const { valid, error, type } = evaluate.check();
    if (!valid) return `compilation failed: ${firstLine(error)}`;
    if (type !== "bool" && type !== "dyn") return "cel expression must evaluate to a bool";
    const message = stringAt(declaration, "message") || `failed rule: ${rule}`;
    return { evaluate, message, usesOldSelf: /\boldSelf\b/.test(rule) };
  } catch (error) {
    return `compilation failed: ${firstLine(error)}`;
  }
}

/** The first line of an error. The library appends the source. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0] ?? "";
}
