import type { ASTNode, Environment, ParseResult } from "@marcbachmann/cel-js";
import { field, type Json, stringAt } from "../../json.ts";
import { optionalRuleEnvironment, ruleEnvironment } from "./cel-environment.ts";

/** A rule of `x-kubernetes-validations`, ready to run. */
export interface CompiledRule {
  readonly rule: string;
  readonly evaluate: ParseResult;
  readonly message: string;
  readonly messageExpression: ParseResult | undefined;
  readonly reason: string;
  readonly fieldPath: string;
  /** It compares with what is stored: it runs on updates only, unless `optionalOldSelf` is set. */
  readonly usesOldSelf: boolean;
  readonly optionalOldSelf: boolean;
  /** Nodes of the expression, and how deep loops stand inside of loops: what its cost is estimated by. */
  readonly nodes: number;
  readonly loopDepth: number;
}

/** What is wrong with a rule: a sentence that says where. */
export interface RuleProblem {
  readonly field: "rule" | "messageExpression";
  readonly message: string;
}

const loops: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter"]);

/** Compiles a rule; returns what is wrong with it when it cannot be compiled. */
export function compileRule(declaration: Json): CompiledRule | RuleProblem {
  const rule = stringAt(declaration, "rule")?.trim() ?? "";
  const messageRule = stringAt(declaration, "messageExpression")?.trim() ?? "";
  const environment = field(declaration, "optionalOldSelf") === true ? optionalRuleEnvironment : ruleEnvironment;
  const compiled = compile(environment, rule);
  if (typeof compiled === "string") return { field: "rule", message: compiled };
  const { type } = compiled.check();
  if (type !== "bool" && type !== "dyn") {
    return { field: "rule", message: "compilation failed: must evaluate to a bool" };
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

/** Tells a compiled rule from what is wrong with one. */
export function isCompiled(result: CompiledRule | RuleProblem): result is CompiledRule {
  return "evaluate" in result;
}

function compile(environment: Environment, expression: string): ParseResult | string {
  try {
    const parsed = environment.parse(expression);
    const { valid, error } = parsed.check();
    return valid ? parsed : `compilation failed: ${firstLine(error)}`;
  } catch (error) {
    return `compilation failed: ${firstLine(error)}`;
  }
}

/** The first line of an error: the library draws the source below it. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0] ?? "";
}

interface Shape {
  readonly nodes: number;
  readonly depth: number;
  readonly usesOldSelf: boolean;
}

function measure(node: ASTNode, depth: number): Shape {
  const isLoop = node.op === "rcall" && loops.has(node.args[0]);
  const inner = isLoop ? depth + 1 : depth;
  let shape: Shape = { nodes: 1, depth: inner, usesOldSelf: node.op === "id" && node.args === "oldSelf" };
  for (const child of childrenOf(node.args)) {
    const next = measure(child, inner);
    shape = {
      nodes: shape.nodes + next.nodes,
      depth: Math.max(shape.depth, next.depth),
      usesOldSelf: shape.usesOldSelf || next.usesOldSelf,
    };
  }
  return shape;
}

function childrenOf(args: unknown): readonly ASTNode[] {
  if (isNode(args)) return [args];
  return Array.isArray(args) ? args.flatMap(childrenOf) : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value && "pos" in value;
}
