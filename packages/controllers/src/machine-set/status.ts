import {
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
  type FieldProblem,
  legacyConditionTypes,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  type MachineSetStatus,
} from "@millwright/core";
import { type Condition, type ConditionState, equalJson, removeCondition, setCondition } from "@millwright/kube";
import { type ApprovingObject, heldCondition } from "../deletion-budget/held-condition.ts";
import type { HeldDeletions } from "../model/deletion-budget.ts";
import { specValidState } from "../conditions/spec-valid.ts";
import { isPreservedFailure } from "../model/phase.ts";
import { countMachines } from "../machine-lists/machine-counts.ts";
import { countWhere, machinesWhere, predicateFor } from "../machine-lists/machines-where.ts";
import type { Freeze } from "../safety/freeze-set.ts";
import { countAutoPreserved } from "./plan-preserve-annotations.ts";

/** A creation or deletion of machines that the API server rejected, until one succeeds. */
export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/** What the status of a set is computed from. */
export interface MachineSetFacts {
  readonly set: MachineSet;
  readonly owned: readonly Machine[];
  readonly problems: readonly FieldProblem[];
  readonly failure?: ReplicaFailure | undefined;
  /** Whether the set is frozen; absent: not evaluated, the condition is kept. */
  readonly freeze?: Pick<Freeze, "condition"> | undefined;
  /** The condition DeletionProtected. Default: none. */
  readonly protection?: ConditionState | undefined;
  /** The deployment of the set, whose annotation approves. */
  readonly deployment?: MachineDeployment | undefined;
  /** Deletions that are held. */
  readonly held?: HeldDeletions | undefined;
}

const hasLabels = predicateFor((wanted: Readonly<Record<string, string>>) => {
  const labels = Object.entries(wanted);
  return ({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value);
});

function countTemplateLabels({ set, owned }: MachineSetFacts): number {
  const { labels } = set.spec.template.metadata ?? {};
  return labels === undefined ? owned.length : countWhere(owned, hasLabels(labels));
}

type FailedMachine = NonNullable<MachineSetStatus["failedMachines"]>[number];

/** The time of a repeated failure is ignored: otherwise the list would be written at every retry of every failed machine. */
function unlessNew(summary: FailedMachine, before: MachineSetStatus["failedMachines"]): FailedMachine {
  const timeless = ({ lastOperation, ...rest }: FailedMachine): object => ({
    ...rest,
    lastOperation: { ...lastOperation, lastUpdateTime: undefined },
  });
  const known = before?.find(({ name }) => name === summary.name);
  return known !== undefined && equalJson(timeless(known), timeless(summary)) ? known : summary;
}

const hasFailed = (machine: Machine): boolean =>
  machine.status?.lastOperation?.state === "Failed" && !isPreservedFailure(machine);

/** The summary of failed machines for their set and its deployment. */
function summariesOfFailed({ set, owned }: MachineSetFacts): readonly FailedMachine[] {
  return machinesWhere(owned, hasFailed)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((machine) => ({
      name: machine.metadata.name,
      ...(machine.spec?.providerID === undefined ? {} : { providerID: machine.spec.providerID }),
      ...(machine.status?.lastOperation === undefined ? {} : { lastOperation: machine.status.lastOperation }),
      ownerRef: set.metadata.name,
    }))
    .map((summary) => unlessNew(summary, set.status?.failedMachines));
}

/** Frozen is absent, not False, while the set is not frozen. */
function withFrozen(conditions: readonly Condition[], { freeze }: MachineSetFacts, now: Date): readonly Condition[] {
  if (freeze === undefined) return conditions;
  return freeze.condition === undefined
    ? removeCondition(conditions, legacyConditionTypes.frozen)
    : setCondition(conditions, freeze.condition, { now });
}

/** DeletionsHeld is absent, not False, while nothing is held. */
function withHeld(
  conditions: readonly Condition[],
  { set, deployment, held }: MachineSetFacts,
  now: Date,
): readonly Condition[] {
  if (held === undefined) return removeCondition(conditions, deletionsHeldConditionType);
  const by: ApprovingObject =
    deployment === undefined ? { kind: "MachineSet", object: set } : { kind: "MachineDeployment", object: deployment };
  return setCondition(conditions, heldCondition(held, by, now), { now });
}

function conditionsOf(facts: MachineSetFacts, now: Date): readonly Condition[] {
  const { set, problems, failure } = facts;
  const valid = specValidState(problems, set.metadata.generation);
  const standing = removeCondition(set.status?.machineSetCondition ?? [], crdsEstablishedConditionType);
  const before = withHeld(withFrozen(standing, facts, now), facts, now);
  const { protection } = facts;
  const unprotected = protection === undefined ? removeCondition(before, deletionProtectedConditionType) : before;
  const states = protection === undefined ? [valid] : [valid, protection];
  const conditions = states.reduce((list, state) => setCondition(list, state, { now }), unprotected);
  // Absent, not False, without a failure: Gardener treats an existing ReplicaFailure as an error.
  return failure === undefined
    ? removeCondition(conditions, legacyConditionTypes.replicaFailure)
    : setCondition(conditions, { type: legacyConditionTypes.replicaFailure, status: "True", ...failure }, { now });
}

/**
 * Status of a set, from the machines that exist and not from the last status. `replicas` includes terminating
 * machines, because Gardener compares it with the number of Machine objects. While the spec is invalid `observedGeneration` is not updated: that is how readers see it.
 */
export function machineSetStatus(facts: MachineSetFacts, now: Date): MachineSetStatus {
  const { set, owned, problems } = facts;
  const { failedMachines: _, ...kept } = set.status ?? {};
  const failed = summariesOfFailed(facts);
  const { available, ready, preserved } = countMachines(owned);
  return {
    ...kept,
    replicas: owned.length,
    fullyLabeledReplicas: countTemplateLabels(facts),
    availableReplicas: available,
    readyReplicas: ready,
    preservedFailedReplicas: preserved,
    autoPreserveFailedMachineCount: countAutoPreserved(owned),
    ...(problems.length === 0 && set.metadata.generation !== undefined
      ? { observedGeneration: set.metadata.generation }
      : {}),
    ...(failed.length > 0 ? { failedMachines: failed } : {}),
    machineSetCondition: conditionsOf(facts, now),
  };
}
