import type { DerivedCondition } from "../derived-condition.ts";
import type { MachineFacts } from "../../machine/conditions/facts.ts";
import { ready } from "../../machine/conditions/ready.ts";
import { healthCheckSucceeded, ownerRemediated } from "../../machine/conditions/remediation.ts";
import { upToDate } from "../../machine/conditions/updating.ts";

/** A machine with those of its conditions that its set and its deployment sum up. */
export interface JudgedMachine {
  readonly facts: MachineFacts;
  readonly name: string;
  readonly ready: DerivedCondition | undefined;
  /** Absent where the set or the deployment is not known. */
  readonly upToDate: DerivedCondition | undefined;
  /** Its health check failed. */
  readonly isUnhealthy: boolean;
  /** What is done about that; absent for a machine that is well, and for one that is kept on purpose. */
  readonly remediation: DerivedCondition | undefined;
}

export const judge = (facts: MachineFacts, now: Date): JudgedMachine => ({
  facts,
  name: facts.machine.metadata.name,
  ready: ready(facts, now),
  upToDate: upToDate(facts, now),
  isUnhealthy: healthCheckSucceeded(facts, now)?.status === "False",
  remediation: ownerRemediated(facts, now),
});
