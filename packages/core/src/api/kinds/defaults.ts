import type { IntOrPercent } from "../values/fenceposts.ts";
import type { MachineDeployment, MachineDeploymentSpec } from "./machine-deployment.ts";
import type { MachineSet, MachineSetSpec } from "./machine-set.ts";

/** Strategies of a MachineDeployment. Source: MCM, `pkg/apis/machine/v1alpha1/machinedeployment_types.go`. */
export const strategyTypes = ["InPlaceUpdate", "Recreate", "RollingUpdate"] as const;

/** Who selects the nodes of an update in place. Source: MCM, `pkg/apis/machine/v1alpha1/machinedeployment_types.go`; MCM, `pkg/controller/deployment_inplace.go` rolloutInPlace. */
export const orchestrationTypes = ["Auto", "Manual"] as const;

/** A strategy with its defaults. */
export type DefaultedStrategy =
  | { readonly type: "Recreate" }
  | { readonly type: "RollingUpdate"; readonly rollingUpdate: DefaultedFenceposts }
  | {
      readonly type: "InPlaceUpdate";
      readonly inPlaceUpdate: DefaultedFenceposts & { readonly orchestrationType: (typeof orchestrationTypes)[number] };
    };

/** Both fenceposts of a strategy. */
export interface DefaultedFenceposts {
  readonly maxSurge: IntOrPercent;
  readonly maxUnavailable: IntOrPercent;
}

/** A MachineDeployment with the defaults in place. It is a MachineDeployment, too. */
export type DefaultedMachineDeployment = Omit<MachineDeployment, "spec"> & {
  readonly spec: Omit<MachineDeploymentSpec, "strategy"> & {
    readonly autoPreserveFailedMachineMax: number;
    readonly minReadySeconds: number;
    readonly paused: boolean;
    readonly replicas: number;
    readonly strategy: DefaultedStrategy;
  };
};

/** A MachineSet with the defaults in place. It is a MachineSet, too. */
export type DefaultedMachineSet = Omit<MachineSet, "spec"> & {
  readonly spec: MachineSetSpec & {
    readonly autoPreserveFailedMachineMax: number;
    readonly minReadySeconds: number;
    readonly replicas: number;
  };
};

/**
 * A deployment with its defaults, in memory only: the stored object stays as it was written, as the CRDs have no defaults.
 * Strategy RollingUpdate, surge 1, unavailable 0, replicas 0. There is no
 * default for `revisionHistoryLimit` and `progressDeadlineSeconds`: absent means all sets and no deadline.
 * Throws a RangeError for a strategy or orchestration type that validateMachineDeployment rejects: validate first.
 */
export function withMachineDeploymentDefaults(deployment: MachineDeployment): DefaultedMachineDeployment {
  const { spec } = deployment;
  return {
    ...deployment,
    spec: {
      ...spec,
      autoPreserveFailedMachineMax: spec.autoPreserveFailedMachineMax ?? 0,
      minReadySeconds: spec.minReadySeconds ?? 0,
      paused: spec.paused ?? false,
      replicas: spec.replicas ?? 0,
      strategy: withStrategyDefaults(spec.strategy),
    },
  };
}

/** A set with its defaults, in memory only: replicas, minReadySeconds and autoPreserveFailedMachineMax 0. */
export function withMachineSetDefaults(set: MachineSet): DefaultedMachineSet {
  const { spec } = set;
  return {
    ...set,
    spec: {
      ...spec,
      autoPreserveFailedMachineMax: spec.autoPreserveFailedMachineMax ?? 0,
      minReadySeconds: spec.minReadySeconds ?? 0,
      replicas: spec.replicas ?? 0,
    },
  };
}

/** The type of a strategy as written; empty or missing is RollingUpdate. */
export function strategyTypeOf(strategy: MachineDeploymentSpec["strategy"]): string {
  return strategy?.type || "RollingUpdate";
}

function withStrategyDefaults(strategy: MachineDeploymentSpec["strategy"]): DefaultedStrategy {
  const type = strategyTypeOf(strategy);
  switch (type) {
    case "Recreate":
      return { type };
    case "RollingUpdate":
      return { type, rollingUpdate: withFencepostDefaults(strategy?.rollingUpdate) };
    case "InPlaceUpdate": {
      const orchestrationType = orchestrationTypes.find((each) => each === strategy?.inPlaceUpdate?.orchestrationType);
      if (!orchestrationType)
        throw new RangeError("orchestrationType is neither Auto nor Manual: validate the deployment first");
      return { type, inPlaceUpdate: { ...withFencepostDefaults(strategy?.inPlaceUpdate), orchestrationType } };
    }
    default:
      throw new RangeError(`${type} is not a strategy: validate the deployment first`);
  }
}

function withFencepostDefaults(
  written: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent } | undefined,
): DefaultedFenceposts {
  return { maxSurge: written?.maxSurge ?? 1, maxUnavailable: written?.maxUnavailable ?? 0 };
}
