import { apiTime } from "@millwright/kube";
import { arrayAt, at, field, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";
import type { ClusterFault } from "../cluster-faults/cluster-fault.ts";
import { isInFaultyHalf, isNamed, faultsOfKinds } from "../cluster-faults/cluster-faults.ts";
import { isTrue, withCondition } from "../objects/conditions.ts";
import { disrupt } from "./disrupt.ts";
import { outOfServiceTaint } from "./taints.ts";
import { attachedVolumes, volumesOf } from "./pod-volumes.ts";
import { isFinished, nodeNameOf } from "./pod-state.ts";
import { statusPatch } from "./status-patch.ts";
import { type Action, isDeleting, type Item, podEvent, type ObjectEvent, type View } from "./view.ts";

/** How long pods take to start and to end. */
export interface PodTimes {
  readonly startDelayMs: number;
  readonly stopDelayMs: number;
}

/** How long a pod takes to end after its deletion, in seconds; never longer than its grace period. */
export const stopAfterAnnotation = "simulation.millwright.dev/stop-after-seconds";
/** `"false"` keeps a running pod from being ready. */
export const readyAnnotation = "simulation.millwright.dev/ready";
/** How long the containers of a pod run until they exit, in seconds. Default: for ever. */
export const finishAfterAnnotation = "simulation.millwright.dev/finish-after-seconds";
/** Their exit code. Default 0. */
export const exitCodeAnnotation = "simulation.millwright.dev/exit-code";

/**
 * What kubelets do for the pods of their nodes: run them once their volumes are there, report readiness, end them within
 * their grace period. The kubelet of a node that is not Ready does nothing; its pods are not ready and are deleted with the Node.
 */
export function runPods(view: View, times: PodTimes): readonly Action[] {
  const nodes = new Map(view.nodes.map((node) => [node.metadata.name, node]));
  return view.pods.flatMap((pod): readonly Action[] => {
    const nodeName = nodeNameOf(pod);
    if (nodeName === "") return [];
    const node = nodes.get(nodeName);
    if (node === undefined) return deleteOrphan(view, pod);
    if (!isTrue(node, "Ready")) {
      if (isDeleting(pod) && isOutOfService(node)) return [forceDelete(pod)];
      return isTrue(pod, "Ready") ? reportReady(view, pod, false) : [];
    }
    // The condition Ready is stale right after the kubelet has stopped.
    if (faultsOfKinds(view.faults, "kubelet-stops").some(({ nodes: names }) => isNamed(names, nodeName))) return [];
    if (isDeleting(pod)) return stopPod(view, pod, times);
    if (isFinished(pod)) return [];
    if (stringAt(pod, "status", "phase") !== "Running") return startPod(view, pod, node, times);
    const finished = finishPod(view, pod);
    if (finished !== undefined) return finished;
    const wanted = isWantedReady(view, pod);
    return isTrue(pod, "Ready") === wanted ? [] : reportReady(view, pod, wanted);
  });
}

/** The status of a pod whose containers exit; undefined for others, and while they run. Pods with restartPolicy Always never end. */
function finishPod(view: View, pod: Item): readonly Action[] | undefined {
  const seconds = Number(at(pod, "metadata", "annotations", finishAfterAnnotation) ?? Number.NaN);
  if (!Number.isFinite(seconds) || stringAt(pod, "spec", "restartPolicy") === "Always") return undefined;
  if (!view.due(`finish/${pod.metadata.uid}`, seconds * 1000)) return undefined;
  const exitCode = Number(at(pod, "metadata", "annotations", exitCodeAnnotation) ?? 0);
  const reason = exitCode === 0 ? "Completed" : "Error";
  const finishedAt = apiTime(view.now);
  const { conditions } = readiness(pod, false, finishedAt);
  const containerStatuses = arrayAt(pod, "status", "containerStatuses").map((status) => ({
    ...(isObject(status) ? status : {}),
    ready: false,
    started: false,
    state: {
      terminated: {
        exitCode,
        reason,
        startedAt: stringAt(status, "state", "running", "startedAt") ?? finishedAt,
        finishedAt,
      },
    },
  }));
  return statusPatch("pods", pod, {
    phase: exitCode === 0 ? "Succeeded" : "Failed",
    ...(conditions === undefined ? {} : { conditions }),
    containerStatuses,
  });
}

/** Pods of a deleted Node are removed, as by the pod garbage collector. */
function deleteOrphan(view: View, pod: Item): readonly Action[] {
  if (!view.due(`orphan/${pod.metadata.uid}`, 1_000)) return [];
  const why = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };
  return isFinished(pod) ? [forceDelete(pod)] : disrupt(view, pod, why, forceDelete(pod));
}

function forceDelete(item: Item): Action {
  return { do: "delete", kind: "pods", item, graceSeconds: 0 };
}

/** Whether a node has the taint out-of-service: its pods end without its kubelet. */
export function isOutOfService(node: Item): boolean {
  return arrayAt(node, "spec", "taints").some((taint) => field(taint, "key") === outOfServiceTaint);
}

function stopPod(view: View, pod: Item, { stopDelayMs }: PodTimes): readonly Action[] {
  const events = view.isNew(`killing/${pod.metadata.uid}`) ? containersOf(pod, "Killing", stopping) : [];
  const killing: readonly Action[] = events.length === 0 ? [] : [{ do: "record", events }];
  if (isHeld(view, pod, "pod-never-ends")) return killing;
  const own = Number(at(pod, "metadata", "annotations", stopAfterAnnotation) ?? Number.NaN);
  const graceMs = Number(at(pod, "metadata", "deletionGracePeriodSeconds") ?? 0) * 1000;
  const wantedMs = Number.isFinite(own) ? own * 1000 : stopDelayMs;
  // A pod that has ended and is kept by another client's finalizer has no grace period left and does not end twice.
  if (!view.due(`stop/${pod.metadata.uid}`, Math.min(wantedMs, graceMs)) || graceMs === 0) return killing;
  return [...killing, forceDelete(pod)];
}

const stopping = (name: string): string => `Stopping container ${name}`;

/** One event of the kubelet for each container. */
function containersOf(
  pod: Item,
  reason: string,
  message: (name: string, image: string) => string,
): readonly ObjectEvent[] {
  return arrayAt(pod, "spec", "containers").map((container) =>
    podEvent(pod, "kubelet", reason, message(stringAt(container, "name") ?? "", stringAt(container, "image") ?? "")),
  );
}

/** Whether a fault affects a pod. */
function isHeld(view: View, pod: Item, kind: "pod-never-ends" | "pod-never-starts" | "pod-not-ready"): boolean {
  return faultsOfKinds(view.faults, kind).some((fault) => affectsPod(fault, pod));
}

function affectsPod(
  { namespaces, names, labels }: Omit<Extract<ClusterFault, { readonly kind: "pod-not-ready" }>, "kind">,
  { metadata }: Item,
): boolean {
  const own = field(metadata, "labels");
  return (
    isNamed(namespaces, metadata.namespace ?? "") &&
    isNamed(names, metadata.name) &&
    Object.entries(labels ?? {}).every(([key, value]) => field(own, key) === value)
  );
}

function startPod(view: View, pod: Item, node: Item, { startDelayMs }: PodTimes): readonly Action[] {
  if (isHeld(view, pod, "pod-never-starts")) return [];
  const attached = attachedVolumes(view, node.metadata.name);
  const needed = volumesOf(view, pod);
  if (needed === undefined || needed.some((volume) => !attached.has(volume.metadata.name))) return [];
  if (!view.due(`start/${pod.metadata.uid}`, startDelayMs)) return [];
  const time = apiTime(view.now);
  const hostIP = addressOf(node);
  const podIP = podAddress(pod.metadata.uid);
  return [
    {
      do: "patch",
      kind: "pods",
      item: pod,
      subresource: "status",
      events: [
        ...containersOf(pod, "Pulled", (_, image) => `Container image "${image}" already present on machine`),
        ...containersOf(pod, "Created", () => "Container created"),
        ...containersOf(pod, "Started", () => "Container started"),
      ],
      patch: {
        status: {
          ...readiness(pod, isWantedReady(view, pod), time),
          phase: "Running",
          startTime: time,
          podIP,
          podIPs: [{ ip: podIP }],
          ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
        },
      },
    },
  ];
}

function reportReady(view: View, pod: Item, isReady: boolean): readonly Action[] {
  return statusPatch("pods", pod, readiness(pod, isReady, apiTime(view.now)));
}

function readiness(pod: Item, isReady: boolean, time: string): JsonObject {
  const status = isReady ? "True" : "False";
  const notReady = isReady ? {} : { reason: "ContainersNotReady", message: "containers are not ready" };
  const withAll = [
    { type: "PodScheduled", status: "True" } as const,
    { type: "Initialized", status: "True" } as const,
    { type: "ContainersReady", status, ...notReady } as const,
    { type: "Ready", status, ...notReady } as const,
  ].reduce<JsonObject>((object, condition) => withCondition(object, condition, time), pod);
  const before = arrayAt(pod, "status", "containerStatuses");
  return {
    conditions: arrayAt(withAll, "status", "conditions"),
    containerStatuses: arrayAt(pod, "spec", "containers").map((container, index) =>
      containerStatus(container, before[index], isReady, time),
    ),
  };
}

function containerStatus(container: Json, before: Json | undefined, ready: boolean, time: string): JsonObject {
  const image = stringAt(container, "image") ?? "";
  return {
    name: stringAt(container, "name") ?? "",
    image,
    imageID: `simulated://${image}`,
    containerID: `simulated://${stringAt(container, "name") ?? ""}`,
    ready,
    started: true,
    restartCount: 0,
    state: field(before, "state") ?? { running: { startedAt: time } },
    lastState: {},
  };
}

function isWantedReady(view: View, pod: Item): boolean {
  if (at(pod, "metadata", "annotations", readyAnnotation) === "false" || isHeld(view, pod, "pod-not-ready"))
    return false;
  const flaps = faultsOfKinds(view.faults, "pod-flaps").filter((fault) => affectsPod(fault, pod));
  const nowMs = view.now.getTime();
  for (const { everyMs } of flaps) view.due(`flap/${pod.metadata.uid}/${Math.floor(nowMs / everyMs)}`, everyMs);
  return !flaps.some(({ everyMs }) => isInFaultyHalf(everyMs, nowMs));
}

function addressOf(node: Item): string | undefined {
  const address = arrayAt(node, "status", "addresses").find((entry) => field(entry, "type") === "InternalIP");
  return stringAt(address, "address");
}

/** An address of 10.0.0.0/8 derived from a UID: the same for the whole life of a pod. */
function podAddress(uid: string): string {
  const hex = uid.replaceAll(/[^0-9a-f]/g, "").padEnd(6, "0");
  const part = (start: number): number => Number.parseInt(hex.slice(start, start + 2), 16);
  return `10.${part(0)}.${part(2)}.${Math.max(1, part(4))}`;
}
