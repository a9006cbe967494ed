import type { NodeAddress } from "@millwright/core";
import type { LabelSelector, NodeCondition, ObjectMeta, Taint } from "@millwright/core/machine-api";

/** A Node as far as the controllers read it. Fields that `trimNode` removes are not in the caches. */
export interface Node {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly providerID?: string;
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
  };
  readonly status?: {
    readonly conditions?: readonly NodeCondition[];
    /** Amounts by resource name, as text. */
    readonly capacity?: Readonly<Record<string, string>>;
    readonly volumesAttached?: readonly { readonly name: string }[];
    readonly addresses?: readonly NodeAddress[];
    readonly nodeInfo?: { readonly systemUUID?: string };
  };
}

/** A Pod as far as a drain reads it. Caches keep only these fields: new ones must be added to `trimPod`. */
export interface Pod {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly priority?: number;
    readonly terminationGracePeriodSeconds?: number;
    readonly volumes?: readonly PodVolume[];
    /** In the caches only those of the taints of drained nodes. */
    readonly tolerations?: readonly Toleration[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

/** A toleration of a Pod. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

/** A volume of a Pod, as far as a drain reads it: of a claim, of a generated claim, or deleted with the pod. */
export interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: object;
  readonly emptyDir?: object;
}

/** A PodDisruptionBudget. An empty selector selects every pod of the namespace, a missing one none. */
export interface Budget {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly unhealthyPodEvictionPolicy?: string;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** A PersistentVolumeClaim as far as a drain reads it. */
export interface Claim {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly volumeName?: string };
}

/** A PersistentVolume as far as a drain reads it; its spec is passed to the driver. */
export interface Volume {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly csi?: { readonly driver: string; readonly volumeHandle: string } };
}

/** A VolumeAttachment as far as a deletion reads it. */
export interface VolumeAttachment {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly attacher?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached?: boolean };
}

/** A Secret; its base64 values are only converted to `Secret` values, which do not print. */
export interface SecretObject {
  readonly metadata: ObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
  /** In the cache instead of the values: differs when they do. */
  readonly digest?: string;
}
