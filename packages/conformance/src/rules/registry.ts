import { excludedSubjects, rulesOfAllCalls } from "./all-calls.ts";
import { rulesBeforeCalls } from "./before-calls.ts";
import { createRules } from "./create.ts";
import { optionalMethodRules } from "./optional-methods.ts";
import { type ContractRule, type RuleArea, ruleAreas } from "./rule.ts";
import { statusAndDeleteRules } from "./status-and-delete.ts";

const rules = [
  ...rulesBeforeCalls,
  ...createRules,
  ...statusAndDeleteRules,
  ...optionalMethodRules,
  ...rulesOfAllCalls,
] as const;

/** Id of a rule of the contract. */
export type RuleId = (typeof rules)[number]["id"];

/** A rule with one of the ids of this contract. */
export type KnownRule = ContractRule & { readonly id: RuleId };

/** All rules of the driver contract, in the order in which they are checked. `docs/drivers/contract.md` is generated from them. */
export const contractRules: readonly KnownRule[] = rules;

/** The part of the contract that a rule belongs to. */
export const areaOf = ({ id }: Pick<ContractRule, "id">): RuleArea =>
  ruleAreas.find((area) => id.startsWith(`${area}.`)) ?? "run";

export { excludedSubjects };
