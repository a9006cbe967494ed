import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { type Controller, equalJson, watchTriggers } from "@millwright/kube";
import type { TargetCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { machinesMatching } from "../cluster/node-candidates.ts";
import { nodeIdentityOf } from "../model/pick-node.ts";
import type { Node } from "../model/node-objects.ts";
import { type DrainTriggers, wireDrains } from "../drain/drain-triggers.ts";
import { isDraining, isLeaving } from "./drain/draining.ts";
import { isSameHealth } from "../model/node-health.ts";

/** The fields of a node that a decision reads, besides its conditions. */
const relevantFields = (node: Node): readonly unknown[] => {
  const { labels, annotations, finalizers, deletionTimestamp } = node.metadata;
  return [node.spec, labels, annotations, finalizers, deletionTimestamp, node.status?.capacity, nodeIdentityOf(node)];
};

/** Ignores heartbeats: only changes of fields that a decision reads enqueue the machine of a node. */
export const isRelevantChange = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  !equalJson(relevantFields(old), relevantFields(current)) ||
  !isSameHealth(old.status?.conditions ?? [], current.status?.conditions ?? []);

/** Enqueues machines when their nodes change, and draining machines when an input of their drain changes. */
export function wireTargetCluster(
  context: Pick<ControllerContext, "caches" | "namespace">,
  target: TargetCaches,
  controller: Pick<Controller, "enqueue">,
  memory: Omit<DrainTriggers, "draining" | "leaving">,
): void {
  const { machines } = context.caches;
  const key = ({ metadata }: Machine): string => `${context.namespace}/${metadata.name}`;
  const machinesNamed = (name: string | undefined): string[] =>
    name === undefined ? [] : [`${context.namespace}/${name}`];
  const keysOfNode = (node: Node): string[] => [
    ...machinesMatching(node, context.caches).map(key),
    ...machinesNamed(node.metadata.labels?.[labelKeys.machineName]),
  ];
  const those = (node: Node | undefined, matches: typeof isDraining): string[] =>
    node === undefined
      ? []
      : keysOfNode(node).filter((machineKey) => {
          const machine = machines.store.get(machineKey);
          return machine !== undefined && matches(machine, node);
        });
  // By the node, not only by the label: a machine without the label drains the node that its id or name matches.
  const leaving = (nodeName = ""): string[] => {
    const node = target.nodes.store.get(nodeName);
    if (node !== undefined || nodeName === "") return those(node, isLeaving);
    // The deletion waits for the pods of an absent node.
    return machines.store
      .byIndex("node", nodeName)
      .filter((machine) => isLeaving(machine, undefined))
      .map(key);
  };

  watchTriggers({ store: target.nodes.store, controller, keys: keysOfNode, when: isRelevantChange });
  wireDrains(target, controller, { ...memory, draining: (node) => those(node, isDraining), leaving });
}
