import type { RuleId } from "../rules/registry.ts";
import { callChecks } from "./calls.ts";
import type { Check } from "./check.ts";
import { createChecks } from "./create.ts";
import { createFaultChecks } from "./create-faults.ts";
import { deleteChecks } from "./delete.ts";
import { driverChecks } from "./driver.ts";
import { errorChecks } from "./errors.ts";
import { listChecks } from "./list.ts";
import { loadChecks } from "./load.ts";
import { nodeChecks } from "./node.ts";
import { endChecks } from "./nothing-left.ts";
import { optionalMethodChecks } from "./optional-methods.ts";
import { ownershipChecks } from "./ownership.ts";
import { randomFaultChecks } from "./random-faults.ts";
import { securityChecks } from "./security.ts";
import { secretChecks, specChecks } from "./spec.ts";
import { statusChecks } from "./status.ts";

/** The check of every rule. A rule without one does not compile. */
export const checks: Readonly<Record<RuleId, Check>> = {
  ...driverChecks,
  ...specChecks,
  ...secretChecks,
  ...createChecks,
  ...createFaultChecks,
  ...ownershipChecks,
  ...nodeChecks,
  ...statusChecks,
  ...deleteChecks,
  ...listChecks,
  ...optionalMethodChecks,
  ...callChecks,
  ...errorChecks,
  ...securityChecks,
  ...loadChecks,
  ...randomFaultChecks,
  ...endChecks,
};
