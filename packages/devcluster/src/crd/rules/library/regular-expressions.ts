import type { Environment } from "@marcbachmann/cel-js";
import { goPattern } from "../../formats/go-pattern.ts";

/** The internal name of `matches`: the library's own function has JavaScript's patterns. */
export const ownMatches = "goMatches";

function read(pattern: string, flags = ""): RegExp {
  const result = goPattern(pattern);
  if ("error" in result) throw new Error(result.error);
  return flags === "" ? result.regExp : new RegExp(result.regExp.source, result.regExp.flags + flags);
}

/**
 * Adds the functions that take patterns in Go's syntax. Source: Kubernetes documentation, "Kubernetes regex library".
 */
export function addRegularExpressions(environment: Environment): Environment {
  return environment
    .registerFunction(`string.${ownMatches}(string): bool`, (text: string, pattern: string) => read(pattern).test(text))
    .registerFunction(
      "string.find(string): string",
      (text: string, pattern: string) => read(pattern).exec(text)?.[0] ?? "",
    )
    .registerFunction(
      "string.findAll(string): list<string>",
      (text: string, pattern: string) => text.match(read(pattern, "g")) ?? [],
    )
    .registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) => {
      const all = text.match(read(pattern, "g")) ?? [];
      return limit < 0n ? all : all.slice(0, Number(limit));
    });
}
