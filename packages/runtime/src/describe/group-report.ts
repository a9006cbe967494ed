import { isHeld } from "@millwright/controllers/reports";
import { annotationKeys, type Machine, phaseOf } from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf } from "@millwright/kube";

/** A condition of an object. */
export interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  /** When the status changed last, RFC 3339; empty when that is unknown. */
  readonly since: string;
  readonly reason: string;
  readonly message: string;
}

/** A machine whose last operation failed, with its message. */
export interface FailedMachine {
  readonly name: string;
  readonly message: string;
}

/** The revision that a set or deployment carries; empty where it carries none. */
export const revisionOf = ({ metadata }: ApiObject): string => metadata.annotations?.[annotationKeys.revision] ?? "";

/** Whether `owner` controls the object. */
export const isOwnedBy = (object: ApiObject, owner: ApiObject): boolean => {
  const { uid } = owner.metadata;
  return uid !== undefined && controllerRefOf(object)?.uid === uid;
};

const terminatingText = (machine: Machine): string => (isHeld(machine) ? "Terminating (held)" : "Terminating");

/** Number of machines by phase, in the order of the phases' names; without a phase yet: `being created`. */
export function countPhases(machines: readonly Machine[]): Readonly<Record<string, number>> {
  const phases = machines.map((machine): string =>
    machine.metadata.deletionTimestamp == null ? phaseOf(machine) || "being created" : terminatingText(machine),
  );
  const names = [...new Set(phases)].toSorted();
  return Object.fromEntries(names.map((name) => [name, phases.filter((phase) => phase === name).length]));
}

/** Conditions of a status, in their order. */
export const reportedConditions = (
  conditions:
    | readonly (Pick<ReportedCondition, "type" | "status"> & {
        readonly lastTransitionTime?: string;
        readonly reason?: string;
        readonly message?: string;
      })[]
    | undefined,
): readonly ReportedCondition[] =>
  (conditions ?? []).map(({ type, status, lastTransitionTime: since = "", reason = "", message = "" }) => ({
    type,
    status,
    since,
    reason,
    message,
  }));

/** Failed machines of a status. */
export const failedMachines = (
  machines:
    | readonly { readonly name?: string; readonly lastOperation?: { readonly description?: string } }[]
    | undefined,
): readonly FailedMachine[] =>
  (machines ?? []).map(({ name = "", lastOperation }) => ({ name, message: lastOperation?.description ?? "" }));
