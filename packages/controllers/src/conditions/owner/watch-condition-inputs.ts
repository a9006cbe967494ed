import type { Machine } from "@millwright/core/machine-api";
import { type Controller, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";
import { machinesMatching } from "../../cluster/node-candidates.ts";
import type { Node } from "../../model/node-objects.ts";
import { isProvisioning } from "../../model/provisioning.ts";
import { isSameHealth } from "../../model/node-health.ts";
import { isDeleting } from "../../model/phase.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";

/** Maps condition inputs to the owners that they affect. */
export interface OwnerKeys {
  /** Keys of the objects whose template, or that of one of their sets, names a class. */
  readonly ofClass: (name: string) => readonly string[];
  /** Keys of the objects that a machine belongs to. */
  readonly ofMachine: (machine: Machine) => readonly string[];
  /** Keys of all objects. */
  readonly all: () => readonly string[];
}

const isWithoutCopy = (machine: Machine): boolean => isDeleting(machine) || isProvisioning(machine);

const comesOrGoes = (old: unknown, current: unknown): boolean => old === undefined || current === undefined;

/** Whether a change of a node affects the conditions of its machine, other than that it exists. */
const hasOtherHealth = (old: Node | undefined, current: Node | undefined): boolean =>
  !comesOrGoes(old, current) && !isSameHealth(old?.status?.conditions ?? [], current?.status?.conditions ?? []);

/**
 * Enqueues owners of machines when their condition inputs change: a class is created or deleted, the API server of the nodes becomes
 * unreachable or reachable, a node is created or deleted, which need not change a machine that is Unknown
 * already, or its health changes while its machine is terminating or provisioning, when it is not copied to the machine.
 */
export function watchConditionInputs(
  { caches, target, conditions }: Pick<ControllerContext, "caches" | "target" | "conditions">,
  controller: Pick<Controller, "enqueue">,
  keys: OwnerKeys,
): void {
  if (conditions?.clusterApi === false) return;
  watchTriggers({
    store: caches.classes.store,
    controller,
    keys: ({ metadata }) => keys.ofClass(metadata.name),
    when: comesOrGoes,
    priority: () => "routine",
  });
  const { unreachableAfterMs } = conditions?.settings ?? defaultMachineSettings;
  const enqueueAll = (): void => {
    for (const key of keys.all()) controller.enqueue(key, "routine");
  };
  if (target === undefined) return;
  const machinesOn = (node: Node): readonly Machine[] => machinesMatching(node, caches);
  watchTriggers({
    store: target.caches.nodes.store,
    controller,
    keys: (node) => machinesOn(node).flatMap(keys.ofMachine),
    when: comesOrGoes,
    priority: () => "routine",
  });
  watchTriggers({
    store: target.caches.nodes.store,
    controller,
    keys: (node) => machinesOn(node).filter(isWithoutCopy).flatMap(keys.ofMachine),
    when: hasOtherHealth,
    priority: () => "routine",
  });
  target.caches.nodes.connectivity.onLost(unreachableAfterMs, enqueueAll);
  target.caches.nodes.connectivity.onRegained((lostForMs) => {
    if (lostForMs > unreachableAfterMs) enqueueAll();
  });
}
