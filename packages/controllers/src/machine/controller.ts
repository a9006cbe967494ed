import { labelKeys, type Machine } from "@millwright/core";
import { type Controller, createController, equalJson, watchTriggers } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import { createMachineExecutor } from "./act.ts";
import { decideMachine } from "./decide.ts";
import { isDraining } from "./draining.ts";
import { isClassNews, isSecretNews } from "./class-view.ts";
import type { MachineDriver } from "./driver-port.ts";
import { createRepairWatch } from "./health/repair-watch.ts";
import { isSameHealth } from "./node-health.ts";
import { observeMachine } from "./observe.ts";
import { createOperations, type Operations } from "./operations.ts";
import type { MachineSettings } from "./snapshot.ts";
import { createTold, type Told } from "./told.ts";

/** The controller of machines and the driver calls that it has under way. */
export interface MachineController {
  readonly controller: Controller;
  readonly operations: Operations;
}

/** What the controller of machines needs besides what all controllers share. */
export interface MachineControllerOptions {
  readonly driver: MachineDriver;
  readonly settings: MachineSettings;
  readonly workers: number;
}

/** Secrets that changed while they were read are read again, so often. */
const MAX_READS = 3;

/** Makes the controller of Machines: one VM per machine, from creation to the last finalizer. */
export function createMachineController(
  context: ControllerContext,
  { driver, settings, workers }: MachineControllerOptions,
): MachineController {
  const { caches, target, clock, namespace } = context;
  const operations = createOperations(clock, {
    perLane: settings.creationsPerClass,
    inAll: settings.creationsInAll,
    exhaustedRetryMs: settings.resourceExhaustedRetryMs,
  });
  const told = createTold();
  const keyOfName = (name: string): string => `${namespace}/${name}`;
  const executor = createMachineExecutor(context, {
    operations,
    driver,
    settings,
    repairs: { take: (uid, group) => repairs.take(uid, group), release: (uid) => repairs.release(uid) },
    wake: (machine) => controller.enqueue(keyOfName(machine.metadata.name)),
  });

  const observe = (key: string): ReturnType<typeof observeMachine> | undefined => {
    const machine = caches.machines.store.get(key);
    return machine === undefined
      ? undefined
      : observeMachine(machine, { context, operations, told, repairs, driver, settings });
  };

  const controller = createController({
    name: "machine",
    workers,
    waitFor: [
      caches.machines,
      caches.classes,
      caches.secrets,
      ...(target === undefined ? [] : [target.caches.nodes, target.caches.pods, target.caches.attachments]),
    ],
    clock,
    random: context.random,
    log: context.log,
    reconcile: async (key) => {
      let seen = observe(key);
      for (let reads = 0; seen !== undefined && seen.resolved.unread.length > 0; reads++) {
        if (reads === MAX_READS) throw new Error("the Secrets of the MachineClass change faster than they can be read");
        await caches.secrets.read(seen.resolved.unread);
        // Observed and decided in one turn of the event loop: of two machines that both saw a replacement allowed, one would see it too late.
        seen = observe(key);
      }
      if (seen === undefined) return { done: true };
      const { snapshot, resolved } = seen;
      const { machine } = snapshot;
      const decision = decideMachine(snapshot, clock.now());
      const result = await carryOut(decision, (action) => executor.act(machine, resolved, action), {
        object: machine,
        writer: executor.machines,
        events: context.events,
        log: context.log,
      });
      told.remember(machine.metadata.uid ?? "", decision.because);
      return result;
    },
  });

  const repairs = createRepairWatch(context, settings, controller);
  wireControlCluster(context, controller, operations, told);
  if (target !== undefined) wireTargetCluster(context, controller);
  return { controller, operations };
}

/** Machines, their classes and the secrets of those wake machines. */
function wireControlCluster(
  { caches, namespace }: ControllerContext,
  controller: Controller,
  operations: Operations,
  told: Told,
): void {
  const keysOfClass = (name: string): string[] =>
    caches.machines.store.byIndex("class", name).map(({ metadata }) => `${namespace}/${metadata.name}`);
  watchTriggers({
    store: caches.machines.store,
    controller,
    keys: ({ metadata }) => [`${namespace}/${metadata.name}`],
  });
  caches.machines.store.subscribe((old, current) => {
    if (current !== undefined || old?.metadata.uid === undefined) return;
    operations.forget(old.metadata.uid);
    told.forget(old.metadata.uid);
  });
  watchTriggers({
    store: caches.classes.store,
    controller,
    when: isClassNews,
    keys: ({ metadata }) => keysOfClass(metadata.name),
  });
  watchTriggers({
    store: caches.secrets.store,
    controller,
    when: isSecretNews,
    keys: ({ metadata }) =>
      caches.classes.store
        .byIndex("secret", metadata.name)
        .flatMap((machineClass) => keysOfClass(machineClass.metadata.name)),
  });
}

/** A heartbeat is no news: only what a decision reads wakes the machine of a node. */
const isNews = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  !equalJson(old.spec, current.spec) ||
  !equalJson(old.metadata.labels, current.metadata.labels) ||
  !equalJson(old.metadata.annotations, current.metadata.annotations) ||
  !equalJson(old.metadata.finalizers, current.metadata.finalizers) ||
  !equalJson(old.status?.capacity, current.status?.capacity) ||
  old.metadata.deletionTimestamp !== current.metadata.deletionTimestamp ||
  !isSameHealth(old.status?.conditions ?? [], current.status?.conditions ?? []);

/** Nodes wake their machines; pods and attachments wake machines that are being drained. */
function wireTargetCluster({ caches, namespace, target }: ControllerContext, controller: Controller): void {
  if (target === undefined) return;
  const key = ({ metadata }: Machine): string => `${namespace}/${metadata.name}`;
  const machinesNamed = (name: string | undefined): string[] => (name === undefined ? [] : [`${namespace}/${name}`]);
  const keysOfNode = (node: Node): string[] => [
    ...caches.machines.store.byIndex("node", node.metadata.name).map(key),
    ...caches.machines.store.byIndex("providerId", node.spec?.providerID ?? "").map(key),
    ...machinesNamed(node.metadata.labels?.[labelKeys.machineName]),
  ];
  // By the node, not by the label alone: a machine without label drains the node that its id or name leads to.
  const draining = (nodeName = ""): string[] => {
    const node = target.caches.nodes.store.get(nodeName);
    if (node === undefined) return [];
    return keysOfNode(node).filter((machineKey) => {
      const machine = caches.machines.store.get(machineKey);
      return machine !== undefined && isDraining(machine, node);
    });
  };
  watchTriggers({ store: target.caches.nodes.store, controller, keys: keysOfNode, when: isNews });
  watchTriggers({ store: target.caches.pods.store, controller, keys: (pod) => draining(pod.spec?.nodeName) });
  watchTriggers({
    store: target.caches.attachments.store,
    controller,
    keys: (attachment) => draining(attachment.spec?.nodeName),
  });
}
