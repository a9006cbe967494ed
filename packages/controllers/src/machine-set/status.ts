import {
  type FieldProblem,
  legacyConditionTypes,
  type Machine,
  type MachineSet,
  type MachineSetStatus,
} from "@millwright/core/machine-api";
import { type Condition, type ConditionState, equalJson, removeCondition, setCondition } from "@millwright/kube";
import { specValidState } from "../conditions/spec-valid.ts";
import { ownShareProblems } from "../deletion-budget/own-share.ts";
import { withHolds } from "../model/hold-condition.ts";
import { isInService, isPreservedFailure, isReadyInService } from "../model/phase.ts";
import {
  countWhere,
  type MachineList,
  type MachinePredicate,
  machinesWhere,
  predicateFor,
} from "../machine-lists/machine-list.ts";
import { countAutoPreserved } from "./plan-preserve-annotations.ts";

/** A creation or deletion of machines that the API server rejected, until one succeeds. */
export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/** What the status of a set is computed from. */
export interface MachineSetFacts {
  readonly set: MachineSet;
  readonly owned: MachineList;
  readonly problems: readonly FieldProblem[];
  readonly failure?: ReplicaFailure | undefined;
  /** The conditions of what holds the set. Default: nothing does. */
  readonly holds?: readonly (ConditionState | undefined)[];
  /** Types of such conditions that were not judged, and stay. Default: none. */
  readonly unjudged?: readonly string[];
}

const hasLabels = (wanted: Readonly<Record<string, string>>): MachinePredicate => {
  const labels = Object.entries(wanted);
  return ({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value);
};

function countTemplateLabels({ set, owned }: MachineSetFacts): number {
  const { labels } = set.spec.template.metadata ?? {};
  return labels === undefined ? owned.length : countWhere(owned, predicateFor(owned, hasLabels, labels));
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

/** The details are those of the Machine: in other objects, each API server prunes them. */
function summarizedOperation({ status }: Machine): Pick<FailedMachine, "lastOperation"> {
  if (status?.lastOperation === undefined) return {};
  const { details: _, ...lastOperation } = status.lastOperation;
  return { lastOperation };
}

/** The summary of failed machines for their set and its deployment. */
function summariesOfFailed({ set, owned }: MachineSetFacts): readonly FailedMachine[] {
  return machinesWhere(owned, hasFailed)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((machine) => ({
      name: machine.metadata.name,
      ...(machine.spec?.providerID === undefined ? {} : { providerID: machine.spec.providerID }),
      ...summarizedOperation(machine),
      ownerRef: set.metadata.name,
    }))
    .map((summary) => unlessNew(summary, set.status?.failedMachines));
}

function conditionsOf(facts: MachineSetFacts, now: Date): readonly Condition[] {
  const { set, problems, failure, holds = [], unjudged } = facts;
  const held = withHolds(set.status?.machineSetCondition ?? [], holds, { now }, unjudged);
  // An invalid share keeps the set from nothing: the flag applies.
  const spec = specValidState([...problems, ...ownShareProblems(set)], set.metadata.generation);
  const conditions = setCondition(held, spec, { now });
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
  return {
    ...kept,
    replicas: owned.length,
    fullyLabeledReplicas: countTemplateLabels(facts),
    availableReplicas: countWhere(owned, isInService),
    readyReplicas: countWhere(owned, isReadyInService),
    preservedFailedReplicas: countWhere(owned, isPreservedFailure),
    autoPreserveFailedMachineCount: countAutoPreserved(owned),
    ...(problems.length === 0 && set.metadata.generation !== undefined
      ? { observedGeneration: set.metadata.generation }
      : {}),
    ...(failed.length > 0 ? { failedMachines: failed } : {}),
    machineSetCondition: conditionsOf(facts, now),
  };
}
