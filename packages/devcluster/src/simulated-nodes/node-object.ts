import { apiTime } from "@millwright/kube";
import type { KubeObject } from "@millwright/kube";

/** A machine that becomes a node of the cluster, as its cloud describes it. */
export interface DesiredNode {
  readonly nodeName: string;
  /**
   * Absent: its kubelet runs with `--cloud-provider=external`. It registers without a provider ID and with the taint {@link
   * uninitializedTaint}; a cloud controller manager sets the provider ID and removes the taint.
   */
  readonly providerId?: string;
  /** `status.nodeInfo.systemUUID`, from the firmware of the machine. Default: the name of the node. */
  readonly systemUuid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Taints that its kubelet registers with (`--register-with-taints`). */
  readonly taints?: readonly { readonly key: string; readonly value?: string | undefined; readonly effect: string }[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  /** Of what is absent, the node has the default: 4 CPUs, 16Gi of memory, 100Gi of storage, 110 pods. */
  readonly capacity?: Readonly<Record<string, string>>;
}

/** The status of the condition Ready; Unknown is set by the node lifecycle controller. */
export type Readiness = "True" | "False" | "Unknown";

/** A condition beyond those of every kubelet. */
export interface MoreCondition {
  readonly type: string;
  readonly status: Readiness;
  readonly reason: string;
  readonly message: string;
}

/** The state of a node: its readiness and further conditions. */
export interface NodeState {
  readonly ready: Readiness;
  readonly conditions: readonly MoreCondition[];
}

/**
 * Keeps pods off a node until a cloud controller manager has initialized it. Source: Kubernetes, `initialNode` in
 * pkg/kubelet/kubelet_node_status.go.
 */
export const uninitializedTaint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
} as const;

const defaultCapacity = { cpu: "4", memory: "16Gi", pods: "110", "ephemeral-storage": "100Gi" };

const readyReasons: Readonly<Record<Readiness, { readonly reason: string; readonly message: string }>> = {
  True: { reason: "KubeletReady", message: "kubelet is posting ready status" },
  False: { reason: "KubeletNotReady", message: "container runtime is down" },
  Unknown: { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." },
};

const pressures = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
] as const;

/** The Node object that a kubelet registers. */
export function newNode(desired: DesiredNode): KubeObject {
  const taints = [...(desired.providerId === undefined ? [uninitializedTaint] : []), ...(desired.taints ?? [])];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: desired.nodeName,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": desired.nodeName,
        "kubernetes.io/os": "linux",
        ...desired.labels,
      },
    },
    spec: {
      ...(desired.providerId === undefined ? {} : { providerID: desired.providerId }),
      ...(taints.length === 0 ? {} : { taints }),
    },
  };
}

/** The status that a kubelet posts. Conditions with an unchanged status keep their transition time. */
export function nodeStatus(desired: DesiredNode, state: NodeState, present: unknown, now: Date): object {
  const capacity = { ...defaultCapacity, ...desired.capacity };
  return {
    capacity,
    allocatable: capacity,
    ...(desired.addresses === undefined ? {} : { addresses: desired.addresses }),
    conditions: conditionsFor(state.ready, present, now, state.conditions),
    nodeInfo: {
      architecture: "amd64",
      bootID: "",
      containerRuntimeVersion: "simulated://1",
      kernelVersion: "6.12.0",
      kubeProxyVersion: "",
      kubeletVersion: "v1.35.0",
      machineID: desired.nodeName,
      operatingSystem: "linux",
      osImage: "Simulated Linux",
      systemUUID: desired.systemUuid ?? desired.nodeName,
    },
  };
}

/** All conditions of a node in a state. Without heartbeats every condition is Unknown. */
export function conditionsFor(
  ready: Readiness,
  present: unknown,
  now: Date,
  more: readonly MoreCondition[] = [],
): readonly object[] {
  const time = apiTime(now);
  const condition = (type: string, status: Readiness, reason: string, message: string): object => {
    const before = conditionOf(present, type);
    const since = before?.status === status && before.since !== undefined ? before.since : time;
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: since };
  };
  const silent = readyReasons.Unknown;
  return [
    ...pressures.map(([type, reason, message]) =>
      ready === "Unknown"
        ? condition(type, "Unknown", silent.reason, silent.message)
        : condition(type, "False", reason, message),
    ),
    ...more.map(({ type, status, reason, message }) => condition(type, status, reason, message)),
    condition("Ready", ready, readyReasons[ready].reason, readyReasons[ready].message),
  ];
}

/** A stored condition of a node; undefined when it has none of that type. */
export function conditionOf(
  node: unknown,
  type: string,
): { readonly status: string; readonly since: string | undefined } | undefined {
  const conditions = property(property(node, "status"), "conditions");
  if (!Array.isArray(conditions)) return undefined;
  const found: unknown = conditions.find((entry: unknown) => property(entry, "type") === type);
  const status = property(found, "status");
  const since = property(found, "lastTransitionTime");
  return typeof status === "string" ? { status, since: typeof since === "string" ? since : undefined } : undefined;
}

/** An own property of an object of the API server. */
export function property(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
