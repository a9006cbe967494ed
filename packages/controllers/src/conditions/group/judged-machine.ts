import type { Machine } from "@millwright/core/machine-api";
import type { DerivedCondition } from "@millwright/kube";
import type { MachineFacts } from "../machine/facts.ts";
import { msUntilIssuesChange } from "../machine/machine-conditions.ts";
import { ready } from "../machine/ready.ts";
import { healthCheckSucceeded, ownerRemediated } from "../machine/remediation.ts";
import { upToDate } from "../machine/updating.ts";

/** Conditions of a machine that do not depend on its owners. */
interface OwnConditions {
  readonly ready: DerivedCondition | undefined;
  /** Its health check failed. */
  readonly isUnhealthy: boolean;
  /** The remediation; absent for a healthy machine, and for a preserved one. */
  readonly remediation: DerivedCondition | undefined;
}

/** A machine with the conditions that its set and its deployment aggregate. */
export interface JudgedMachine extends OwnConditions {
  readonly facts: MachineFacts;
  readonly name: string;
  /** Absent where the set or the deployment is not known. */
  readonly upToDate: DerivedCondition | undefined;
}

/** What the conditions of a machine without its owners are computed from, besides the machine. */
type OwnInputs = Omit<MachineFacts, "machine" | "set" | "deployment" | "differences">;

const isSame = (a: OwnInputs, b: OwnInputs): boolean =>
  a.node === b.node &&
  a.hasClass === b.hasClass &&
  a.hasTarget === b.hasTarget &&
  a.isTargetReachable === b.isTargetReachable &&
  a.settings === b.settings;

/** Computes the conditions of a machine that its owners aggregate. */
export type JudgeMachine = (facts: MachineFacts, now: Date) => JudgedMachine;

/**
 * Makes the judge of the machines of a controller. Objects of a cache are immutable, and few of thousands of machines change between two reconciles: what was computed for a
 * machine object is reused while its inputs are the same and time changes nothing, and is dropped with the object.
 */
export function createMachineJudge(): JudgeMachine {
  const computed = new WeakMap<Machine, { readonly from: OwnInputs; readonly conditions: OwnConditions }>();
  const ownConditions = (facts: MachineFacts, now: Date): OwnConditions => {
    const { machine, set: _, deployment: __, differences: ___, ...from } = facts;
    const before = computed.get(machine);
    if (before !== undefined && isSame(before.from, from)) return before.conditions;
    const conditions = {
      ready: ready(facts, now),
      isUnhealthy: healthCheckSucceeded(facts, now)?.status === "False",
      remediation: ownerRemediated(facts, now),
    };
    if (msUntilIssuesChange(facts, now) === undefined) computed.set(machine, { from, conditions });
    return conditions;
  };
  return (facts, now) => ({
    facts,
    name: facts.machine.metadata.name,
    ...ownConditions(facts, now),
    upToDate: upToDate(facts, now),
  });
}
