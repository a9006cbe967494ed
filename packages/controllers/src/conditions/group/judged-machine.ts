import type { Machine } from "@millwright/core";
import type { MachineFacts } from "../machine/facts.ts";
import { msUntilIssuesChange } from "../machine/machine-conditions.ts";
import { ready } from "../machine/ready.ts";
import { healthCheckSucceeded, ownerRemediated } from "../machine/remediation.ts";
import { upToDate } from "../machine/updating.ts";
import type { DerivedCondition } from "../derived-condition.ts";

/** Conditions of a machine that do not depend on its owners. */
interface OwnWord {
  readonly ready: DerivedCondition | undefined;
  /** Its health check failed. */
  readonly isUnhealthy: boolean;
  /** The remediation; absent for a healthy machine, and for a preserved one. */
  readonly remediation: DerivedCondition | undefined;
}

/** A machine with the conditions that its set and its deployment aggregate. */
export interface JudgedMachine extends OwnWord {
  readonly facts: MachineFacts;
  readonly name: string;
  /** Absent where the set or the deployment is not known. */
  readonly upToDate: DerivedCondition | undefined;
}

/** A cached result, with its inputs besides the machine itself. */
interface Found {
  readonly from: Omit<MachineFacts, "machine" | "set" | "deployment">;
  readonly word: OwnWord;
}

/** Objects of a cache are immutable, and few of thousands of machines change between two reconciles: the results of the others are reused. */
const found = new WeakMap<Machine, Found>();

const isSame = (a: Found["from"], b: Found["from"]): boolean =>
  a.node === b.node &&
  a.hasClass === b.hasClass &&
  a.hasTarget === b.hasTarget &&
  a.isTargetReachable === b.isTargetReachable &&
  a.settings === b.settings;

function ownWord(facts: MachineFacts, now: Date): OwnWord {
  const { machine, set: _, deployment: __, ...from } = facts;
  const before = found.get(machine);
  if (before !== undefined && isSame(before.from, from)) return before.word;
  const word = {
    ready: ready(facts, now),
    isUnhealthy: healthCheckSucceeded(facts, now)?.status === "False",
    remediation: ownerRemediated(facts, now),
  };
  if (msUntilIssuesChange(facts, now) === undefined) found.set(machine, { from, word });
  return word;
}

export const judge = (facts: MachineFacts, now: Date): JudgedMachine => ({
  facts,
  name: facts.machine.metadata.name,
  ...ownWord(facts, now),
  upToDate: upToDate(facts, now),
});
