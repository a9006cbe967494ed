export { createCheckRunner } from "./checks/run-check.ts";
export { sweepLeftovers } from "./checks/sweep.ts";
export type { Sweep } from "./checks/sweep.ts";
export { defineConformance } from "./define-conformance.ts";
export type { DefineConformanceOptions } from "./define-conformance.ts";
export type { CheckResult, CheckStatus } from "./report/check-result.ts";
export { reportJunit } from "./report/junit.ts";
export { reachedLevel } from "./report/level.ts";
export type { ReachedLevel } from "./report/level.ts";
export { isPassed, reportJson } from "./report/report.ts";
export type { CheckedDriver, ConformanceReport } from "./report/report.ts";
export { reportTable } from "./report/table.ts";
export { contractRules, areaOf, excludedSubjects } from "./rules/registry.ts";
export type { KnownRule, RuleId } from "./rules/registry.ts";
export { cloudTraits, conformanceLevels, ruleAreas } from "./rules/rule.ts";
export type { CloudTrait, ConformanceLevel, ContractRule, RuleArea } from "./rules/rule.ts";
export { runConformance } from "./run-conformance.ts";
export type { RunConformanceOptions } from "./run-conformance.ts";
export { defineFixture } from "./session/fixture.ts";
export type {
  CloudEndpoint,
  ConformanceFixture,
  EndStage,
  FixtureFactory,
  FixtureSetup,
  InventoryVm,
  ProviderClass,
  SecretValues,
  Stages,
} from "./session/fixture.ts";
export { profileNames } from "./session/profile.ts";
export type { Profile, ProfileName } from "./session/profile.ts";
export { openSession } from "./session/session.ts";
export type { ConformanceOptions, Session } from "./session/session.ts";
