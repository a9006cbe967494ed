import { annotationKeys, labelKeys, type Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "../../cluster/context.ts";
import { ownersOfMachine } from "../../cluster/owners-of-machine.ts";
import type { Node } from "../../model/node-objects.ts";

/** Whether a node was never changed for its machine. */
const hasJustJoined = (node: Node | undefined): boolean =>
  node !== undefined && node.metadata.labels?.[labelKeys.machineName] === undefined;

/** Whether a node has just joined in a deployment whose size a cluster autoscaler changes. */
export function joinsAutoscaled(
  machine: Machine,
  node: Node | undefined,
  context: Pick<ControllerContext, "caches" | "namespace">,
): boolean {
  if (!hasJustJoined(node)) return false;
  const { deployment } = ownersOfMachine(machine, context);
  return deployment?.metadata.annotations?.[annotationKeys.autoscalerMaxSize] !== undefined;
}

/**
 * Whether a node that has just joined is kept from the cluster-autoscaler: its deployment replaces machines of other sets. Then its first patch contains what the deployment
 * would write to it next. The deployment writes what is missing, and removes it at the end of the rollout.
 *
 * @param disablesScaleDown whether rollouts disable scale-down; default: `true`
 */
export function joinsInRollout(
  machine: Machine,
  node: Node | undefined,
  context: Pick<ControllerContext, "caches" | "namespace">,
  disablesScaleDown = true,
): boolean {
  if (!disablesScaleDown || !hasJustJoined(node)) return false;
  const { set, deployment } = ownersOfMachine(machine, context);
  if (deployment === undefined || deployment.spec.paused === true || deployment.metadata.deletionTimestamp != null)
    return false;
  const { sets, machines } = context.caches;
  return sets.store
    .byIndex("owner", deployment.metadata.uid ?? "")
    .some((other) => other !== set && machines.store.byIndex("owner", other.metadata.uid ?? "").length > 0);
}
