import { annotationKeys } from "./annotations.ts";

/** Keys of node taints. Source: MCM, `pkg/util/provider/machineutils/utils.go`. */
export const taintKeys = {
  /** `NoSchedule`, removed by Gardener's resource manager: a Pending machine stays Pending until then. Read by the machine controller. */
  criticalComponentsNotReady: "node.gardener.cloud/critical-components-not-ready",
  /**
   * `NoSchedule`, set by a kubelet with an external cloud provider and removed by the cloud controller manager once it has set the Node's provider id: a Pending machine stays
   * Pending until then. Read by the machine controller. Source: `k8s.io/cloud-provider/api`.
   */
  uninitialized: "node.cloudprovider.kubernetes.io/uninitialized",
  /** `NoSchedule`, on the node of a Failed machine that is preserved. Written by the machine controller, read by the scheduler. */
  preserved: "node.machine.sapcloud.io/preserved",
  /**
   * `NoExecute`, value `nodeshutdown`, on the node of a VM that was deleted: Kubernetes then releases its pods and volumes at once. Written by the machine
   * controller, read by kube-controller-manager.
   */
  outOfService: "node.kubernetes.io/out-of-service",
  /** `PreferNoSchedule`, value `True`, on nodes of old MachineSets during a rollout. Written by the deployment controller, read by the scheduler. */
  preferNoSchedule: "deployment.machine.sapcloud.io/prefer-no-schedule",
  /**
   * Ours, `NoSchedule`, set by the kubelet as it registers the node: no pod is bound to it before it has labels and taints of its template. Removed by the machine controller in the
   * write that brings them. The cluster autoscaler takes such a node for one that starts.
   */
  templatePending: "startup-taint.cluster-autoscaler.kubernetes.io/millwright",
  /**
   * Ours, any effect: the cloud will reclaim the VM of the node. Its value is the Go duration of the notice, such as `90s`. Written by any program on the node that sees the
   * notice of its cloud, read by the machine controller.
   */
  interruption: "machine.millwright.dev/interruption",
} as const;

/**
 * Prefixes of the keys of startup taints: a machine is not Running for the first time while its Node has one. Read by the machine controller.
 */
const startupTaintPrefixes = {
  /** Set by kubelets and by the Node Readiness Controller, which removes it. Source: sigs.k8s.io/node-readiness-controller, `spec.taint.key` of a NodeReadinessRule. */
  nodeReadiness: "readiness.k8s.io/",
  /** Set by kubelets, removed by any agent; the cluster autoscaler takes such a Node for one that starts. Source: github.com/kubernetes/autoscaler, `cluster-autoscaler/utils/taints`. */
  clusterAutoscaler: "startup-taint.cluster-autoscaler.kubernetes.io/",
} as const;

/**
 * Taints by which node-termination handlers report that the cloud reclaims the VM of a node, with the shortest notice that the cloud gives, milliseconds. Read by the machine controller.
 * Sources: github.com/aws/aws-node-termination-handler (`pkg/node/node.go` SpotInterruptionTaint, set with `taintNode`),
 * github.com/GoogleCloudPlatform/k8s-node-termination-handler (flag `--taint`), github.com/maksim-paskal/aks-node-termination-handler (flag `-taint.node`).
 */
export const interruptionTaints: Readonly<Record<string, number>> = {
  "aws-node-termination-handler/spot-itn": 120_000,
  "cloud.google.com/impending-node-termination": 30_000,
  "aks-node-termination-handler/preempt": 30_000,
};

/** Effects of a taint, as the Kubernetes scheduler reads them. */
export const taintEffects = {
  noSchedule: "NoSchedule",
  preferNoSchedule: "PreferNoSchedule",
  noExecute: "NoExecute",
} as const;

type Annotations = Readonly<Record<string, string>> | undefined;

/** The keys that a machine lists in {@link annotationKeys.startupTaints}, whether or not they are valid. */
export function listedStartupTaints(annotations: Annotations): readonly string[] {
  const text = annotations?.[annotationKeys.startupTaints]?.trim() ?? "";
  return text === "" ? [] : text.split(",").map((key) => key.trim());
}

/**
 * Whether a taint is a startup taint: an agent removes it once the Node can run pods.
 *
 * @param annotations those of the machine, which may list further keys
 */
export const isStartupTaint = ({ key }: { readonly key: string }, annotations: Annotations): boolean =>
  key === taintKeys.uninitialized ||
  key === taintKeys.criticalComponentsNotReady ||
  Object.values(startupTaintPrefixes).some((prefix) => key.startsWith(prefix)) ||
  listedStartupTaints(annotations).includes(key);
