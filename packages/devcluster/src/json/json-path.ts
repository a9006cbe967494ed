import { field, isArray, isObject, type Json } from "./json.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "all" }
  | { readonly kind: "index"; readonly index: number }
  | {
      readonly kind: "filter";
      readonly path: readonly Step[];
      readonly operator: string;
      readonly value: Json | undefined;
    };

/** Reads every match of a path in a value. */
export type JsonPath = (value: Json) => readonly Json[];

/**
 * Compiles the part of Kubernetes' JSONPath that printer columns and scale paths use: `.a.b`, `['a.b']`, `.a\.b`, `[0]`,
 * `[-1]`, `[*]`, `[?(@.type=="Ready")]`. Undefined when the text is of another form.
 */
export function compileJsonPath(text: string): JsonPath | undefined {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim();
  const steps = parseSteps(inner);
  return steps === undefined ? undefined : (value) => walk([value], steps);
}

const stepPattern =
  /^(?:\.?\[\?\(@((?:\\.|[^=!<>\s])*?)\s*(?:(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|[^)\s]+))?\s*\)\]|\.?\['((?:[^'\\]|\\.)*)'\]|\.?\["((?:[^"\\]|\\.)*)"\]|\.?\[\*\]|\.\*|\.?\[(-?\d+)\]|\.((?:\\.|[^.[\\])+))/;

function parseSteps(text: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith("$") || text.startsWith("@") ? text.slice(1) : text;
  while (rest !== "" && rest !== ".") {
    const match = stepPattern.exec(rest);
    if (match === null) return undefined;
    const [whole, filterPath, operator, operand, singleQuoted, doubleQuoted, index, name] = match;
    rest = rest.slice(whole.length);
    if (filterPath !== undefined) {
      const path = parseSteps(filterPath);
      if (path === undefined) return undefined;
      steps.push({ kind: "filter", path, operator: operator ?? "exists", value: operandOf(operand) });
    } else if (singleQuoted !== undefined || doubleQuoted !== undefined) {
      steps.push({ kind: "field", name: unescape(singleQuoted ?? doubleQuoted ?? "") });
    } else if (index !== undefined) steps.push({ kind: "index", index: Number(index) });
    else if (name !== undefined) steps.push({ kind: "field", name: unescape(name) });
    else steps.push({ kind: "all" });
  }
  return steps;
}

function unescape(name: string): string {
  return name.replaceAll(/\\(.)/g, "$1");
}

function operandOf(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function walk(values: readonly Json[], steps: readonly Step[]): readonly Json[] {
  let current = values;
  for (const step of steps) {
    const next: Json[] = [];
    for (const value of current) next.push(...advance(value, step));
    current = next;
  }
  return current;
}

function advance(value: Json, step: Step): readonly Json[] {
  switch (step.kind) {
    case "field": {
      const found = field(value, step.name);
      return found === undefined || found === null ? [] : [found];
    }
    case "all":
      if (isArray(value)) return value;
      return isObject(value) ? Object.values(value).filter((item) => item !== undefined) : [];
    case "index": {
      const item = isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "filter":
      return isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function passes(item: Json, { path, operator, value }: Extract<Step, { kind: "filter" }>): boolean {
  const [found] = walk([item], path);
  if (operator === "exists") return found !== undefined;
  if (found === undefined || value === undefined || typeof found !== typeof value) return operator === "!=";
  switch (operator) {
    case "==":
      return found === value;
    case "!=":
      return found !== value;
    case "<":
      return Number(found) < Number(value);
    case ">":
      return Number(found) > Number(value);
    case "<=":
      return Number(found) <= Number(value);
    default:
      return Number(found) >= Number(value);
  }
}
