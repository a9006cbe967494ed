import { Environment } from "@marcbachmann/cel-js";
import { addAddresses } from "./library/addresses.ts";
import { addLists } from "./library/lists.ts";
import { addNamedFormats } from "./library/named-formats.ts";
import { addQuantities } from "./library/quantities.ts";
import { addRegularExpressions } from "./library/regular-expressions.ts";
import { addSemvers } from "./library/semvers.ts";
import { addTexts } from "./library/texts.ts";
import { addUrls } from "./library/urls.ts";

interface RuleEnvironments {
  /** For rules that run with an `oldSelf` only. */
  readonly plain: Environment;
  /** For rules with `optionalOldSelf`. */
  readonly optional: Environment;
}

let environments: RuleEnvironments | undefined;

/**
 * The environment of CRD rules: CEL itself and the libraries that Kubernetes adds, without the authorizer, which only admission
 * policies have. Created at the first use, since most servers never evaluate a rule.
 */
export function ruleEnvironments(): RuleEnvironments {
  environments ??= createEnvironments();
  return environments;
}

function createEnvironments(): RuleEnvironments {
  const base = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
  }).registerVariable("self", "dyn");
  for (const add of [
    addTexts,
    addLists,
    addRegularExpressions,
    addQuantities,
    addUrls,
    addAddresses,
    addNamedFormats,
    addSemvers,
  ]) {
    add(base);
  }
  return {
    plain: base.clone().registerVariable("oldSelf", "dyn"),
    optional: base.clone().registerVariable("oldSelf", "optional<dyn>"),
  };
}
