import type { DrainRule, Machine } from "@millwright/core/machine-api";
import type { Budget, Node, Pod, VolumeAttachment } from "../model/node-objects.ts";
import { readDrainRecord } from "./drain-record.ts";
import type { DrainView } from "./drain-view.ts";
import type { EvictionView } from "@millwright/kube";
import type { KnownPods } from "./known-pods.ts";
import { createAttachments, type TrackedVolume, type VolumeLookup, volumesOf } from "./volume-accounting.ts";

/** Sources of a drain's view: the caches of a controller, or lists of a command. */
export interface DrainSources extends VolumeLookup {
  readonly podsOn: (nodeName: string) => readonly Pod[];
  /** Default: complete, as the lists of a command are. */
  readonly knownPods?: (node: Node) => KnownPods;
  readonly budgetsIn: (namespace: string) => readonly Budget[];
  /** VolumeAttachments of a PersistentVolume, on any node. */
  readonly attachmentsOf: (volumeName: string) => readonly VolumeAttachment[];
  /** Pods that use a claim (`namespace/name`), on any node or none. */
  readonly podsWithClaim: (claim: string) => readonly Pod[];
  /**
   * Until when the drain waits for the driver's id of a PersistentVolume, wall clock in milliseconds: in the past when it is known, or will not be; `undefined`
   * when it was not requested. Absent: there is no driver.
   */
  readonly volumeIdUntil?: (volumeName: string) => number | undefined;
  /** State of the eviction of a pod, by its UID. */
  readonly eviction: (uid: string) => EvictionView | undefined;
}

/** Whether a pod does not use volumes any longer, or never will: one that is deleted before it has a node gets none. */
const isOver = ({ metadata, spec, status }: Pod): boolean =>
  status?.phase === "Succeeded" ||
  status?.phase === "Failed" ||
  (metadata.deletionTimestamp != null && (spec?.nodeName ?? "") === "");

/** Whether the scheduler found no node for a pod. Source: Kubernetes API reference, PodCondition, reasons of PodScheduled. */
const isUnplaced = ({ spec, status }: Pod): boolean =>
  (spec?.nodeName ?? "") === "" &&
  status?.conditions?.some(
    ({ type, status: value, reason }) => type === "PodScheduled" && value === "False" && reason === "Unschedulable",
  ) === true;

/** How far the pods of all nodes may be trusted. */
function leastKnown(nodes: readonly Node[], knownPods: DrainSources["knownPods"]): KnownPods {
  const known = nodes.map((node) => knownPods?.(node) ?? "complete");
  return known.find((each) => each === "disconnected") ?? known.find((each) => each === "unconfirmed") ?? "complete";
}

/**
 * Reads the inputs of the drain of a node.
 *
 * @param machine whose annotation has the record of earlier reconciles; absent for a node without machine
 */
export function observeDrain(
  node: Node,
  machine: Machine | undefined,
  rules: readonly DrainRule[],
  sources: DrainSources,
  otherNodes: readonly Node[] = [],
): DrainView {
  const nodes = [node, ...otherNodes];
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const pods = nodes.flatMap(({ metadata }) => sources.podsOn(metadata.name));
  const record = machine === undefined ? { moves: [] } : readDrainRecord(machine.metadata);
  const namespaces = new Set(pods.map(({ metadata }) => metadata.namespace ?? ""));
  const volumes = new Map(pods.map((pod) => [pod.metadata.uid ?? "", volumesOf(pod, sources)]));
  const evictions = pods.flatMap(({ metadata: { uid = "" } }): [string, EvictionView][] => {
    const view = sources.eviction(uid);
    return view === undefined ? [] : [[uid, view]];
  });

  const { isAttachedHere, isAttachedElsewhere } = createAttachments(nodes, sources.attachmentsOf);
  const known: readonly TrackedVolume[] = [...volumes.values(), ...record.moves.map((move) => move.volumes)].flat();
  const volumeNames = [...new Set([...volumes.values()].flat().map(({ name }) => name))].toSorted();
  const answers = volumeNames.map((name) => ({
    name,
    until: sources.volumeIdUntil === undefined ? 0 : sources.volumeIdUntil(name),
  }));
  const takers = [...new Set(known.map(({ claim }) => claim))].map((claim) => ({
    claim,
    pods: sources.podsWithClaim(claim).filter((pod) => !names.has(pod.spec?.nodeName ?? "") && !isOver(pod)),
  }));
  const wanted = takers.filter(({ pods: those }) => !those.every(isUnplaced));
  const unplaced = takers.filter(({ pods: those }) => those.length > 0 && those.every(isUnplaced));
  return {
    node,
    ...(otherNodes.length === 0 ? {} : { otherNodes }),
    pods,
    knownPods: leastKnown(nodes, sources.knownPods),
    rules,
    budgets: [...namespaces].flatMap((namespace) => sources.budgetsIn(namespace)),
    volumes,
    unknownVolumes: answers.filter(({ until }) => until === undefined).map(({ name }) => name),
    volumeIdsUntil: Math.max(0, ...answers.map(({ until }) => until ?? 0)),
    attached: {
      attachedHere: new Set(known.filter(isAttachedHere).map(({ name }) => name)),
      attachedElsewhere: new Set(known.filter(isAttachedElsewhere).map(({ name }) => name)),
      wantedClaims: new Set(wanted.map(({ claim }) => claim)),
      unplacedClaims: new Set(unplaced.map(({ claim }) => claim)),
    },
    evictions: new Map(evictions),
    record,
  };
}
