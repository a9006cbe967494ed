import type { Environment } from "@marcbachmann/cel-js";
import type { BoundedRegExp } from "../../formats/bounded-regexp.ts";
import { goPattern } from "../../formats/go-pattern.ts";

/** The internal name of `matches`: the library's own function has JavaScript's patterns. */
export const ownMatches = "goMatches";

function read(pattern: string): BoundedRegExp {
  const result = goPattern(pattern);
  if ("error" in result) throw new Error(result.error);
  return result.regExp;
}

/**
 * Adds the functions that take patterns in Go's syntax. Source: Kubernetes documentation, "Kubernetes regex library".
 */
export function addRegularExpressions(environment: Environment): Environment {
  return environment
    .registerFunction(`string.${ownMatches}(string): bool`, (text: string, pattern: string) => read(pattern).test(text))
    .registerFunction("string.find(string): string", (text: string, pattern: string) => read(pattern).find(text))
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) =>
      read(pattern).findAll(text),
    )
    .registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) => {
      const all = read(pattern).findAll(text);
      return limit < 0n ? all : all.slice(0, Number(limit));
    });
}
