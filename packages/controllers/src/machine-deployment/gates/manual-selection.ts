import { labelKeys, rolloutHoldReasons } from "@millwright/core/machine-api";
import { isDeleting } from "../../model/phase.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";
import type { Sets } from "../state/sets.ts";
import type { ObservedDeployment } from "../state/snapshot.ts";

/**
 * What an in-place rollout with manual orchestration waits for. It limits nothing, because such a rollout selects no nodes; but users have to see that they
 * must act, and the progress deadline does not apply to them.
 */
export function manualSelection({ deployment, nodes }: ObservedDeployment, { oldSets }: Sets): RolloutGates {
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
    holds: [`Nodes are updated once they have label ${labelKeys.selectedForUpdate}=true`],
    reason: rolloutHoldReasons.nodesNotSelected,
  };
}
