import { labelKeys } from "@millwright/core";
import { isDeleting } from "../../model/phase.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";
import type { MachineDeploymentSnapshot, Sets } from "../state/snapshot.ts";

/**
 * What a rollout in place waits for where people say which nodes come next. It limits nothing, for such a rollout selects no nodes anyway; but who waits for its
 * end has to know that it is his turn, and the progress deadline is not for people.
 */
export function manualSelection({ deployment, nodes }: MachineDeploymentSnapshot, { oldSets }: Sets): RolloutGates {
  const { strategy } = deployment.spec;
  if (strategy?.type !== "InPlaceUpdate" || strategy.inPlaceUpdate?.orchestrationType !== "Manual") return unlimited;
  const isUnselected = ({ metadata }: { readonly metadata: { readonly name: string } }): boolean =>
    nodes?.get(metadata.name)?.metadata.labels?.[labelKeys.selectedForUpdate] === undefined;
  const isLeft = oldSets.some(({ machines }) =>
    machines.some((machine) => !isDeleting(machine) && isUnselected(machine)),
  );
  if (!isLeft) return unlimited;
  return {
    mayStart: true,
    holds: [`Nodes are updated when somebody gives them the label ${labelKeys.selectedForUpdate}=true`],
  };
}
