import { providerIdKey } from "@millwright/core/driver-host";
import { annotationKeys, labelKeys, type Machine, type MachineClass } from "@millwright/core/machine-api";
import { type Controller, createController, watchTriggers } from "@millwright/kube";
import { waitForTarget } from "../cluster/wait-for-target.ts";
import { wireDrains } from "../drain/drain-triggers.ts";
import { createMachineMemory } from "../machine/memory.ts";
import { isRelevantChange } from "../machine/target-triggers.ts";
import type { Node } from "../model/node-objects.ts";
import type { OrphanDrains } from "./orphan-drains.ts";
import { readQuarantine } from "./quarantine.ts";
import { createOrphanNodeReconciler, type OrphanNodeOptions, type TargetContext } from "./reconcile-orphan-node.ts";

/** The controller of the Nodes of VMs without machine. */
export interface OrphanNodeController {
  readonly controller: Controller;
  /** Sends no more evictions; resolves when all sent ones have a response. */
  close(): Promise<void>;
}

/** Whether a change of a Machine may give a VM to it, or take one away. */
const isOwnerChange = (old: Machine | undefined, current: Machine | undefined): boolean =>
  old?.metadata.uid !== current?.metadata.uid || old?.spec.providerID !== current?.spec.providerID;

const isQuarantineChange = (old: MachineClass | undefined, current: MachineClass | undefined): boolean =>
  old?.metadata.annotations?.[annotationKeys.orphanVms] !== current?.metadata.annotations?.[annotationKeys.orphanVms];

/** Enqueues Nodes when they, their VM in quarantine or its Machine change. */
function wireNodes(context: TargetContext, controller: Controller, drains: OrphanDrains): void {
  const { caches, namespace, target } = context;
  const { store } = target.caches.nodes;
  const keyOf = ({ metadata }: Node): string => `${namespace}/${metadata.name}`;
  const candidates = (providerId: string | undefined, machine: string): readonly Node[] => {
    const id = providerIdKey(providerId);
    return [...(id === undefined ? [] : store.byIndex("providerId", id)), ...store.byIndex("machine", machine)];
  };
  watchTriggers({ store, controller, when: isRelevantChange, keys: (node) => [keyOf(node)] });
  watchTriggers({
    store: caches.classes.store,
    controller,
    when: isQuarantineChange,
    keys: (machineClass) =>
      [...readQuarantine(machineClass).vms].flatMap(([id, { machine }]) => candidates(id, machine)).map(keyOf),
  });
  watchTriggers({
    store: caches.machines.store,
    controller,
    when: isOwnerChange,
    keys: ({ metadata, spec }) => {
      const named = store.get(metadata.labels?.[labelKeys.node] ?? "");
      return [...candidates(spec.providerID, metadata.name), ...(named === undefined ? [] : [named])].map(keyOf);
    },
  });
  drains.onAllowed((name) => controller.enqueue(`${namespace}/${name}`));
}

/** Makes the controller of the Nodes of VMs without machine: cordoned while the VM is in quarantine, drained before it is deleted, and deleted after it. Its keys are the namespace and the name of a Node. */
export function createOrphanNodeController(context: TargetContext, options: OrphanNodeOptions): OrphanNodeController {
  const { caches, namespace, target, clock, random, log } = context;
  const { settings, drains } = options;
  const { store } = target.caches.nodes;
  const memory = createMachineMemory(context, settings, (operations) => operations);
  const { evictions, interests, volumeIds } = memory;
  let made: Controller | undefined;
  const enqueue = (key: string): void => made?.enqueue(key);
  const reconciler = createOrphanNodeReconciler(context, { ...options, memory, enqueue });
  const allKeys = (): string[] => store.list().map(({ metadata }) => `${namespace}/${metadata.name}`);
  const controller = createController({
    name: "orphan-node",
    workers: 1,
    waitFor: [
      caches.machines,
      caches.sets,
      caches.classes,
      caches.secrets,
      ...waitForTarget(context, {
        controller: "orphan-node",
        caches: target.caches,
        unreachableAfterMs: settings.current().unreachableAfterMs,
        onRead: () => allKeys().forEach(enqueue),
      }),
    ],
    allKeys,
    clock,
    random,
    log,
    reconcile: reconciler.reconcile,
  });
  made = controller;
  wireNodes(context, controller, drains);
  const leaving = (name = ""): readonly string[] => {
    const key = `${namespace}/${name}`;
    return reconciler.isLeaving(key) ? [key] : [];
  };
  if (evictions !== undefined) {
    const draining = ({ metadata }: Node): readonly string[] => leaving(metadata.name);
    wireDrains(target.caches, controller, { interests, volumeIds, evictions, draining, leaving });
  }
  store.subscribe((old, current) => {
    if (old !== undefined && old.metadata.uid !== current?.metadata.uid) reconciler.forget(old);
  });
  return { controller, close: memory.close };
}
