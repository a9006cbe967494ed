/** A node group: a MachineDeployment. */
export interface WireNodeGroup {
  /** `namespace/name`; empty: no group. */
  readonly id: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly debug: string;
}

/** A Node as the autoscaler describes it. One that it has not seen yet has the id of its instance as name and as `providerID`. */
export interface WireNode {
  readonly providerID: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Machine: the id by which its Node, or the autoscaler until there is one, names it; state and error. */
export interface WireInstance {
  readonly id: string;
  readonly status: {
    /** See {@link instanceStates}. */
    readonly instanceState: number;
    readonly errorInfo?: {
      readonly errorCode: string;
      readonly errorMessage: string;
      /** See {@link instanceErrorClasses}. */
      readonly instanceErrorClass: number;
    };
  };
}

/** States of an instance, by their numbers. */
export const instanceStates = { running: 1, creating: 2, deleting: 3 } as const;

/** Classes of errors (kubernetes/autoscaler, cluster-autoscaler/cloudprovider/cloud_provider.go InstanceErrorClass). */
export const instanceErrorClasses = { outOfResources: 1, other: 99 } as const;

/** google.protobuf.Duration. */
export interface WireDuration {
  readonly seconds: number;
  readonly nanos: number;
}

/** A duration of autoscalers before 1.34.2, in nanoseconds. */
export interface WireOldDuration {
  readonly duration: number;
}

/** Options by which the autoscaler scales a group in. Each duration is there twice: in a field of autoscalers before 1.34.2, and in one of later ones. */
export interface WireOptions {
  readonly scaleDownUtilizationThreshold: number;
  readonly scaleDownGpuUtilizationThreshold: number;
  readonly zeroOrMaxNodeScaling: boolean;
  readonly ignoreDaemonSetsUtilization: boolean;
  readonly scaleDownUnneededTime?: WireOldDuration | null;
  readonly scaleDownUnreadyTime?: WireOldDuration | null;
  readonly MaxNodeProvisionTime?: WireOldDuration | null;
  readonly scaleDownUnneededDuration: WireDuration | null;
  readonly scaleDownUnreadyDuration: WireDuration | null;
  readonly MaxNodeProvisionDuration: WireDuration | null;
}

/** Request and response of each rpc that is implemented. */
export interface WireCalls {
  readonly NodeGroups: [object, { readonly nodeGroups: readonly WireNodeGroup[] }];
  readonly NodeGroupForNode: [{ readonly node: WireNode | null }, { readonly nodeGroup: WireNodeGroup }];
  readonly GPULabel: [object, { readonly label: string }];
  readonly GetAvailableGPUTypes: [object, { readonly gpuTypes: Readonly<Record<string, never>> }];
  readonly Cleanup: [object, object];
  readonly Refresh: [object, object];
  readonly NodeGroupTargetSize: [{ readonly id: string }, { readonly targetSize: number }];
  readonly NodeGroupIncreaseSize: [{ readonly id: string; readonly delta: number }, object];
  readonly NodeGroupDeleteNodes: [{ readonly id: string; readonly nodes: readonly WireNode[] }, object];
  readonly NodeGroupDecreaseTargetSize: [{ readonly id: string; readonly delta: number }, object];
  readonly NodeGroupNodes: [{ readonly id: string }, { readonly instances: readonly WireInstance[] }];
  readonly NodeGroupTemplateNodeInfo: [
    { readonly id: string },
    { readonly nodeInfo: Uint8Array; readonly nodeBytes: Uint8Array },
  ];
  readonly NodeGroupGetOptions: [
    { readonly id: string; readonly defaults: WireOptions | null },
    { readonly nodeGroupAutoscalingOptions: WireOptions | null },
  ];
}
