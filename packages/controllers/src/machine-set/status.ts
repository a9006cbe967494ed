import {
  annotationKeys,
  type FieldProblem,
  legacyConditionTypes,
  type Machine,
  type MachineSet,
  type MachineSetStatus,
  phaseOf,
  preserveValues,
} from "@millwright/core";
import { type Condition, removeCondition, setCondition } from "../conditions/set-condition.ts";
import { specValidState } from "../conditions/spec-valid.ts";
import { isAvailable, isDeleting } from "../machine/phase.ts";

/** A creation or deletion of machines that the API server refused, until one succeeds. */
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
}

const hasTemplateLabels = (machine: Machine, set: MachineSet): boolean =>
  Object.entries(set.spec?.template?.metadata?.labels ?? {}).every(
    ([key, value]) => machine.metadata.labels?.[key] === value,
  );

const isPreservedFailure = (machine: Machine): boolean =>
  phaseOf(machine) === "Failed" && machine.status?.currentStatus?.preserveExpiryTime != null;

/** How a broken machine is summarised to its set and deployment. */
function summariesOfFailed({ set, owned }: MachineSetFacts): NonNullable<MachineSetStatus["failedMachines"]> {
  return owned
    .filter((machine) => machine.status?.lastOperation?.state === "Failed" && !isPreservedFailure(machine))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((machine) => ({
      name: machine.metadata.name,
      ...(machine.spec?.providerID === undefined ? {} : { providerID: machine.spec.providerID }),
      ...(machine.status?.lastOperation === undefined ? {} : { lastOperation: machine.status.lastOperation }),
      ownerRef: set.metadata.name,
    }));
}

function conditionsOf({ set, problems, failure }: MachineSetFacts, now: Date): readonly Condition[] {
  const valid = specValidState(problems, set.metadata.generation);
  const conditions = setCondition(set.status?.machineSetCondition ?? [], valid, now, "transition");
  // Absent, not False, while all is well: Gardener reads a ReplicaFailure that is there as trouble.
  return failure === undefined
    ? removeCondition(conditions, legacyConditionTypes.replicaFailure)
    : setCondition(
        conditions,
        { type: legacyConditionTypes.replicaFailure, status: "True", ...failure },
        now,
        "transition",
      );
}

/**
 * Status of a set, from the machines that exist and not from what the last pass wrote. `replicas` includes machines on
 * their way out, because Gardener compares it with the number of Machine objects (machineset-machinedeployment.md,
 * section 11 and F17). While the spec is invalid `observedGeneration` stays behind: that is how readers see it.
 */
export function machineSetStatus(facts: MachineSetFacts, now: Date): MachineSetStatus {
  const { set, owned, problems } = facts;
  const { failedMachines: _, ...kept } = set.status ?? {};
  const failed = summariesOfFailed(facts);
  return {
    ...kept,
    replicas: owned.length,
    fullyLabeledReplicas: owned.filter((machine) => hasTemplateLabels(machine, set)).length,
    availableReplicas: owned.filter(isAvailable).length,
    readyReplicas: owned.filter((machine) => !isDeleting(machine) && phaseOf(machine) === "Running").length,
    preservedFailedReplicas: owned.filter(isPreservedFailure).length,
    autoPreserveFailedMachineCount: owned.filter(
      (machine) => machine.metadata.annotations?.[annotationKeys.preserve] === preserveValues.autoPreserved,
    ).length,
    ...(problems.length === 0 && set.metadata.generation !== undefined
      ? { observedGeneration: set.metadata.generation }
      : {}),
    ...(failed.length > 0 ? { failedMachines: failed } : {}),
    machineSetCondition: conditionsOf(facts, now),
  };
}
