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
  /** For rules whose `oldSelf` is there on every run. */
  readonly plain: Environment;
  /** For rules with `optionalOldSelf`. */
  readonly optional: Environment;
}

let environments: RuleEnvironments | undefined;

/**
 * What rules of CRDs may use: CEL itself and the libraries that Kubernetes adds, the authorizer apart, which only admission
 * policies have. Made at the first use, since most servers never see a rule.
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
