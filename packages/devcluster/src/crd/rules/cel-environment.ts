import { Environment } from "@marcbachmann/cel-js";
import { goPattern } from "../formats/go-pattern.ts";

/** The internal name of `matches`: the library's own function has JavaScript's patterns. */
const goMatches = "goMatches";

let environment: Environment | undefined;

/**
 * The environment of CRD rules: CEL itself, without the libraries that Kubernetes adds. Created at the first use, since most
 * servers never evaluate a rule.
 */
export function ruleEnvironment(): Environment {
  environment ??= new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
  })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn")
    .registerFunction(`string.${goMatches}(string): bool`, (text: string, pattern: string) =>
      goPattern(pattern).test(text),
    );
  return environment;
}

/** The expression with `text.matches(pattern)` redirected to the function with Go's patterns. */
export function withGoMatches(expression: string): string {
  return expression.replaceAll(/\.\s*matches\s*\(/g, `.${goMatches}(`);
}
