import {
  isNodeConditionType,
  type Machine,
  type NodeCondition,
  nodeConditionTypes,
} from "@millwright/core/machine-api";
import type { MachineSettings } from "./machine-settings.ts";
import type { Node } from "./node-objects.ts";

/** The conditions of a node that make its machine unhealthy, as short texts in a stable order. */
export function unhealthyConditions(
  conditions: readonly NodeCondition[],
  badUnlessFalse: readonly string[],
): readonly string[] {
  const ready = conditions.find(({ type }) => type === "Ready");
  const bad = conditions.filter(({ type, status }) => badUnlessFalse.includes(type) && status !== "False");
  return [
    // Unlike in MCM, a node that never reported Ready is unhealthy.
    ...(ready?.status === "True" ? [] : [`Ready is ${ready?.status ?? "missing"}`]),
    ...bad.map(({ type, status }) => `${type} is ${status}`).toSorted(),
  ];
}

/** Conditions that must be False: those that the machine lists, else those of the settings (MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy). */
const badUnlessFalseOf = ({ spec }: Machine, { nodeConditions }: Pick<MachineSettings, "nodeConditions">) =>
  spec.nodeConditions?.split(",") ?? nodeConditions;

/** {@link unhealthyConditions} of the node of a machine. */
export const unhealthyConditionsOf = (
  machine: Machine,
  { status }: Node,
  settings: Pick<MachineSettings, "nodeConditions">,
): readonly string[] => unhealthyConditions(status?.conditions ?? [], badUnlessFalseOf(machine, settings));

/** A Machine has copies of so many conditions that no health depends on: a Node may have thousands. */
const MAX_OTHERS = 50;

/** Longest message of a copy; longer ones are cut. */
const MAX_MESSAGE = 1_000;

/** The conditions of its node that a Machine has copies of: all that its health depends on, and the first of the others. */
export function conditionsToCopy(
  machine: Machine,
  { status }: Node,
  settings: Pick<MachineSettings, "nodeConditions">,
): readonly NodeCondition[] {
  const decisive = new Set(["Ready", nodeConditionTypes.inPlaceUpdate, ...badUnlessFalseOf(machine, settings)]);
  let others = 0;
  return (status?.conditions ?? [])
    .filter(({ type }) => isNodeConditionType(type) && (decisive.has(type) || others++ < MAX_OTHERS))
    .map((condition) => {
      const { message = "" } = condition;
      return message.length > MAX_MESSAGE ? { ...condition, message: `${message.slice(0, MAX_MESSAGE)}…` } : condition;
    });
}

/** Whether two lists of conditions describe the same health: heartbeats, messages and reasons do not count, except the stage of an in-place update. */
export function isSameHealth(a: readonly NodeCondition[], b: readonly NodeCondition[]): boolean {
  const key = ({ type, status, reason = "" }: NodeCondition): string =>
    type === nodeConditionTypes.inPlaceUpdate ? `${type}=${status}/${reason}` : `${type}=${status}`;
  const keys = (list: readonly NodeCondition[]): string => list.map(key).toSorted().join(",");
  return keys(a) === keys(b);
}
