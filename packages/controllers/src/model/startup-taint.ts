import { isStartupTaint, type Machine, phaseOf, type Taint, taintEffects } from "@millwright/core";
import { readLastTemplate } from "./last-applied.ts";
import type { Node } from "./node-objects.ts";

/** Whether the machine has never joined: its creation has not been successful (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth). */
export const isFirstJoin = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" && status.lastOperation.state !== "Successful";

/** Whether the scheduler puts no pods without a toleration on a node with this taint. */
export const keepsPodsOff = ({ effect }: Taint): boolean =>
  effect === taintEffects.noSchedule || effect === taintEffects.noExecute;

/** A taint as kubectl writes it. */
export const taintText = ({ key, value = "", effect }: Taint): string =>
  `${key}${value === "" ? "" : `=${value}`}:${effect}`;

/** The startup taint that keeps pods off a node; `undefined` without one. */
export const startupTaintOf = ({ metadata }: Machine, node: Node | undefined): Taint | undefined =>
  node?.spec?.taints?.find((taint) => keepsPodsOff(taint) && isStartupTaint(taint, metadata.annotations));

/** The startup taints of the template that were never set on this node, by the record on it. */
export function unsetStartupTaints({ metadata, spec }: Machine, node: Node): readonly Taint[] {
  const { value, isUnreadable } = readLastTemplate(node.metadata.annotations);
  if (isUnreadable) return [];
  const isSet = ({ key, effect }: Taint): boolean =>
    value.taints.some((taint) => taint.key === key && taint.effect === effect);
  const taints = spec.nodeTemplate?.spec?.taints ?? [];
  return taints.filter((taint) => isStartupTaint(taint, metadata.annotations) && !isSet(taint));
}

/**
 * Whether a startup taint keeps the machine from Running: before it serves for the first time, and after an update in place, a rollout that counted it would replace or update one in
 * service. Later the taint only shows that an agent restarts: its pods go on running, and the machine keeps its phase.
 */
const waitsForStartup = (machine: Machine): boolean =>
  isFirstJoin(machine) || phaseOf(machine) === "Pending" || phaseOf(machine) === "InPlaceUpdateSuccessful";

/** What has to happen to a startup taint before the machine is Running, such as `startup taint a:NoSchedule to be removed from Node b`; `undefined` without one. */
export function awaitedStartupOf(machine: Machine, node: Node | undefined): string | undefined {
  if (node === undefined || !waitsForStartup(machine)) return undefined;
  const { name } = node.metadata;
  const taint = startupTaintOf(machine, node);
  if (taint !== undefined) return `startup taint ${taintText(taint)} to be removed from Node ${name}`;
  const unset = isFirstJoin(machine) ? unsetStartupTaints(machine, node).find(keepsPodsOff) : undefined;
  return unset === undefined ? undefined : `startup taint ${taintText(unset)} to be set on Node ${name}`;
}
