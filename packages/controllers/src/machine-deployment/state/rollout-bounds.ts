import { type MachineDeployment, resolveFenceposts } from "@millwright/core/machine-api";

/** Bounds of a rollout, resolved to machines. */
export interface RolloutBounds {
  /** `spec.replicas` of the deployment. */
  readonly replicas: number;
  /** Machines allowed beyond `replicas`. */
  readonly maxSurge: number;
  /** Machines that may be missing from `replicas`. */
  readonly maxUnavailable: number;
}

/** New `spec.replicas` by name of the set; sets that keep theirs are not in it. */
export type Sizes = ReadonlyMap<string, number>;

/**
 * Surge and unavailability in machines. Recreate guarantees no availability; an in-place update with manual orchestration has no surge
 * (MCM, `pkg/controller/deployment_util.go` ResolveFenceposts).
 */
export function boundsOf({ spec }: MachineDeployment): RolloutBounds {
  const replicas = spec.replicas ?? 0;
  const { type, rollingUpdate, inPlaceUpdate } = spec.strategy ?? {};
  switch (type ?? "RollingUpdate") {
    case "Recreate":
      return { replicas, maxSurge: 0, maxUnavailable: 0 };
    case "InPlaceUpdate": {
      const isManual = inPlaceUpdate?.orchestrationType === "Manual";
      return { replicas, ...resolveFenceposts({ replicas, ...inPlaceUpdate, ...(isManual ? { maxSurge: 0 } : {}) }) };
    }
    default:
      return { replicas, ...resolveFenceposts({ replicas, ...rollingUpdate }) };
  }
}
