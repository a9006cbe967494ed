import { annotationKeys, type MachineDeployment, type MachineSet, readSizeLimits } from "@millwright/core/machine-api";
import { notedNumber } from "../state/set-size.ts";

const replicasOf = ({ spec }: MachineSet): number => spec.replicas ?? 0;

/**
 * The size of a deployment without `spec.replicas` whose size annotations leave it to a cluster autoscaler: the one that it had, as its sets record it, within the annotations; at first the
 * minimum. Source: Cluster API, `internal/webhooks/machinedeployment.go` calculateMachineDeploymentReplicas.
 *
 * @returns undefined when the spec has a size, or the annotations are missing or cannot be used
 */
export function assumedSize(deployment: MachineDeployment, sets: readonly MachineSet[]): number | undefined {
  const limits = deployment.spec.replicas === undefined ? readSizeLimits(deployment) : undefined;
  if (typeof limits !== "object") return undefined;
  const active = sets.filter((set) => replicasOf(set) > 0);
  const noted = active.flatMap((set) => notedNumber(set, annotationKeys.desiredReplicas) ?? []);
  const size = noted.length > 0 ? Math.max(...noted) : active.reduce((sum, set) => sum + replicasOf(set), 0);
  return Math.min(Math.max(size, limits.min), limits.max);
}
