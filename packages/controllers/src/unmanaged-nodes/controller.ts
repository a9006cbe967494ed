import { providerIdKey } from "@millwright/core/driver-host";
import { annotationKeys, finalizers, labelKeys, type Machine } from "@millwright/core/machine-api";
import { type Controller, createController, keyOf, watchTriggers } from "@millwright/kube";
import type { ControllerContext, Target } from "../cluster/context.ts";
import { createNodeWriter } from "../cluster/control-writer.ts";
import { machinesMatching } from "../cluster/node-candidates.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import type { Node } from "../model/node-objects.ts";
import { findDoubt } from "../orphans/find-doubt.ts";
import { observeMachineList } from "../orphans/observe-machine-list.ts";
import { decideUnmanagedNode, missingForMs } from "./decide-unmanaged-node.ts";

/** Whether a change of a Node matters here: heartbeats do not. */
const isNodeChange = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  old.spec?.providerID !== current.spec?.providerID ||
  old.metadata.finalizers?.includes(finalizers.node) !== current.metadata.finalizers?.includes(finalizers.node) ||
  old.metadata.annotations?.[annotationKeys.notManaged] !== current.metadata.annotations?.[annotationKeys.notManaged];

/** Whether a change of a Machine may give a Node to it, or take it away. */
const isMachineChange = (old: Machine | undefined, current: Machine | undefined): boolean =>
  old?.metadata.uid !== current?.metadata.uid ||
  old?.spec.providerID !== current?.spec.providerID ||
  old?.metadata.labels?.[labelKeys.node] !== current?.metadata.labels?.[labelKeys.node];

/** Makes the controller of Nodes that have no Machine. Its keys are names of Nodes. */
export function createUnmanagedNodeController(
  context: ControllerContext & { readonly target: Target },
  { creationTimeoutMs }: Pick<MachineSettings, "creationTimeoutMs">,
): Controller {
  const { caches, target, clock, random, log } = context;
  const { store } = target.caches.nodes;
  const writer = createNodeWriter(context);
  /** Since when, on the monotonic clock, a Node is seen without Machine; by UID. */
  const withoutSince = new Map<string, number>();
  /** In which history of the API server this process marked a Node, by UID: one that was restored may have the Node without its mark, and with the finalizer. */
  const marked = new Map<string, number>();
  const epoch = (): number => target.api.history?.epoch() ?? 0;

  const controller = createController({
    name: "unmanaged-node",
    workers: 1,
    waitFor: [caches.machines, caches.sets, target.caches.nodes],
    allKeys: () => store.list().map(keyOf),
    clock,
    random,
    log,
    reconcile: async (key) => {
      const node = store.get(key);
      if (node === undefined) return { done: true };
      const { name, uid = "" } = node.metadata;
      const machines = new Set(machinesMatching(node, caches).map(({ metadata }) => metadata.uid)).size;
      if (machines > 0) withoutSince.delete(uid);
      else if (!withoutSince.has(uid)) withoutSince.set(uid, clock.monotonicMs());
      const since = withoutSince.get(uid);
      const withoutForMs = since === undefined ? undefined : clock.monotonicMs() - since;
      const { actions, requeueAfterMs } = decideUnmanagedNode(
        {
          node,
          machines,
          withoutForMs,
          isMarkedByUs: marked.get(uid) === epoch(),
          // Reads all machines, and most Nodes have one, or get one within seconds.
          doubt: (withoutForMs ?? 0) < missingForMs ? undefined : findDoubt(observeMachineList(context), undefined),
          creationTimeoutMs,
        },
        (target.clock ?? clock).now(),
      );
      for (const { patch, marks } of actions) {
        await writer.patch({ name }, patch);
        if (marks) marked.set(uid, epoch());
        log(marks ? "warn" : "info", marks ? "Node has no Machine" : "Node has a Machine again", { node: name });
      }
      return requeueAfterMs === undefined ? { done: true } : { requeueAfterMs };
    },
  });
  watchTriggers({ store, controller, when: isNodeChange, keys: ({ metadata }) => [metadata.name] });
  watchTriggers({
    store: caches.machines.store,
    controller,
    when: isMachineChange,
    keys: ({ metadata, spec }) => {
      const id = providerIdKey(spec.providerID);
      const byId = id === undefined ? [] : store.byIndex("providerId", id).map((node) => node.metadata.name);
      return [metadata.labels?.[labelKeys.node] ?? "", ...byId].filter((name) => name !== "");
    },
  });
  store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid === undefined || uid === current?.metadata.uid) return;
    withoutSince.delete(uid);
    marked.delete(uid);
  });
  return controller;
}

/** The controller of Nodes without Machine; none without a cluster that machines join. */
export const unmanagedNodeControllers = (
  context: ControllerContext,
  settings: Pick<MachineSettings, "creationTimeoutMs">,
): readonly Controller[] => {
  const { target } = context;
  return target === undefined ? [] : [createUnmanagedNodeController({ ...context, target }, settings)];
};
