import type { ASTNode } from "@marcbachmann/cel-js";
import { goPattern } from "../formats/go-pattern.ts";
import { ownMatches } from "./library/regular-expressions.ts";
import { childrenOf } from "./rule-shape.ts";

/** The errors of literal patterns in calls of `matches` and similar functions. */
export function patternError(node: ASTNode): string | undefined {
  if (node.op === "rcall" && ["matches", ownMatches, "find", "findAll"].includes(node.args[0])) {
    const [pattern] = node.args[2];
    if (pattern?.op === "value" && typeof pattern.args === "string") {
      const read = goPattern(pattern.args);
      if ("error" in read) {
        return node.args[0] === "matches"
          ? `compilation failed: ${atPlace(node.input, pattern.start, "invalid matches argument")}`
          : `program instantiation failed: ${read.error}`;
      }
    }
  }
  for (const child of childrenOf(node.args)) {
    const error = patternError(child);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** A compile error with its source line. */
function atPlace(source: string, start: number, why: string): string {
  const before = source.slice(0, start).split("\n");
  const column = before.at(-1)?.length ?? 0;
  const line = source.split("\n")[before.length - 1] ?? "";
  return `ERROR: <input>:${before.length}:${column + 1}: ${why}\n | ${line}\n | ${".".repeat(column)}^`;
}

/** The expression with `text.matches(pattern)` redirected to the function with Go's patterns. */
export function withGoMatches(expression: string, node: ASTNode): string {
  const places = matchesPlaces(node, expression);
  return places
    .toSorted((a, b) => b - a)
    .reduce((text, place) => text.slice(0, place) + ownMatches + text.slice(place + "matches".length), expression);
}

function matchesPlaces(node: ASTNode, expression: string): readonly number[] {
  const inside = childrenOf(node.args).flatMap((child) => matchesPlaces(child, expression));
  if (node.op !== "rcall" || node.args[0] !== "matches") return inside;
  const place = expression.indexOf("matches", node.args[1].end);
  return place < 0 ? inside : [...inside, place];
}
