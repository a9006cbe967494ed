import type { Machine } from "@millwright/core/machine-api";
import type { TargetCaches } from "../../cluster/caches.ts";
import type { ClassView } from "../../cluster/class-view.ts";
import type { ControllerContext } from "../../cluster/context.ts";
import type { DrainView } from "../../drain/drain-view.ts";
import type { EvictionQueue } from "@millwright/kube";
import type { PodKnowledge } from "../../drain/known-pods.ts";
import { type DrainSources, observeDrain } from "../../drain/observe-drain.ts";
import type { ObservedDrains } from "../../drain/observed-drains.ts";
import type { VolumeIds } from "../../drain/volume-ids.ts";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { drainRulesOf } from "./drain-rules.ts";

/** State of drains that is kept in memory. */
export interface DrainMemory {
  readonly evictions: Pick<EvictionQueue, "view">;
  readonly volumeIds: Pick<VolumeIds, "idOf" | "waitUntil">;
  /** Absent without a target cluster. */
  readonly podKnowledge: Pick<PodKnowledge, "of"> | undefined;
  readonly observedDrains: Pick<ObservedDrains, "since">;
}

/** What a snapshot contains of a drain. */
type ObservedDrain = Pick<MachineSnapshot, "drain" | "drainObservedSince" | "drainRulesProblem">;

/** The node that counts, and others of its VM. */
type DrainedNodes = readonly [Node, ...(readonly Node[])];

/** Reads the inputs of the drain of a machine's node. Without a driver there is no wait for volume ids. */
function viewOf(
  machine: Machine,
  key: string,
  { nodes, rules }: { readonly nodes: DrainedNodes; readonly rules: Parameters<typeof observeDrain>[2] },
  { pods, budgets, claims, volumes, attachments }: TargetCaches,
  provider: string | undefined,
  { evictions, volumeIds, podKnowledge }: DrainMemory,
): DrainView {
  const [node, ...otherNodes] = nodes;
  const sources: DrainSources = {
    ...(podKnowledge === undefined ? {} : { knownPods: (drained: Node) => podKnowledge.of(key, drained) }),
    podsOn: (name) => pods.store.byIndex("node", name),
    budgetsIn: (namespace) => budgets.store.byIndex("namespace", namespace),
    claim: (namespace, name) => claims.store.getByRef({ namespace, name }),
    volume: (name) => volumes.store.get(name),
    attachmentsOf: (name) => attachments.store.byIndex("volume", name),
    podsWithClaim: (claim) => pods.store.byIndex("claim", claim),
    eviction: (uid) => evictions.view(uid),
    volumeId: (name) => (provider === undefined ? undefined : volumeIds.idOf(provider, name)),
    ...(provider === undefined ? {} : { volumeIdUntil: (name: string) => volumeIds.waitUntil(provider, name) }),
  };
  return observeDrain(node, machine, rules, sources, otherNodes);
}

/**
 * Reads what the drain of a node depends on.
 *
 * @param nodes the one that is being drained, and others of its VM; the first is `undefined`, or there is none: no drain
 */
export function observeNodeDrain(
  machine: Machine,
  [node, ...otherNodes]: readonly (Node | undefined)[],
  classView: ClassView,
  { caches, namespace, target }: ControllerContext,
  memory: DrainMemory,
): ObservedDrain {
  const key = `${namespace}/${machine.metadata.name}`;
  const drainObservedSince = memory.observedDrains.since(key);
  if (node === undefined || target === undefined)
    return { drain: undefined, drainObservedSince, drainRulesProblem: undefined };
  // As it is in the cache, usable or not.
  const machineClass = caches.classes.store.getByRef({ namespace, name: machine.spec.class?.name ?? "" });
  const { rules, problem } = drainRulesOf(machine.metadata, machineClass?.metadata);
  const provider = classView.state === "usable" ? classView.machineClass.provider : undefined;
  return {
    drain: viewOf(
      machine,
      key,
      { nodes: [node, ...otherNodes.filter((each) => each !== undefined)], rules },
      target.caches,
      provider,
      memory,
    ),
    drainObservedSince,
    drainRulesProblem: problem,
  };
}
