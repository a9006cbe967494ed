import {
  annotationKeys,
  clusterApiConditionTypes,
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
  trueLabel,
} from "@millwright/core/machine-api";
import { findCondition } from "@millwright/kube";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import type { MachineDeploymentSnapshot } from "../state/snapshot.ts";

/** Since when a deployment is paused, as its conditions record it, milliseconds since 1970. */
function pausedSince({ status }: MachineDeployment): number | undefined {
  const progressing = findCondition(status?.conditions, legacyConditionTypes.progressing);
  const paused = findCondition(status?.conditions, clusterApiConditionTypes.paused);
  const time = progressing?.reason === legacyReasons.deploymentPaused ? progressing : paused;
  const ms = time?.status === "False" ? NaN : Date.parse(time?.lastTransitionTime ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * The nodes that joined while the rollout was paused, if it had begun: they get the marks of the others, or new pods would go to old nodes. Nodes that were there before are not changed while it is
 * paused: a person may have removed their marks.
 */
export function lateNodes({
  deployment,
  nodes = new Map(),
  sets,
}: Pick<MachineDeploymentSnapshot, "deployment" | "nodes" | "sets">): NodesOfMachines {
  const since = pausedSince(deployment);
  const hasBegun = sets.oldSets.some(
    ({ set }) => set.metadata.annotations?.[annotationKeys.preferNoSchedule] === trueLabel,
  );
  if (since === undefined || !hasBegun) return new Map();
  return new Map([...nodes].filter(([, { metadata }]) => Date.parse(metadata.creationTimestamp ?? "") >= since));
}
