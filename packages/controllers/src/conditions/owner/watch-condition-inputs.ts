import type { Machine } from "@millwright/core";
import { type Controller, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";
import { machinesMatching } from "../../cluster/node-match.ts";
import type { Node } from "../../model/node-objects.ts";
import { isProvisioning } from "../../model/provisioning.ts";
import { isSameHealth } from "../../model/node-health.ts";
import { isDeleting } from "../../model/phase.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";

/** Which objects an owner's surroundings concern. */
export interface OwnerKeys {
  /** Keys of the objects whose template, or one that they made, names a class. */
  readonly ofClass: (name: string) => readonly string[];
  /** Keys of the objects that a machine belongs to. */
  readonly ofMachine: (machine: Machine) => readonly string[];
  /** Keys of all objects. */
  readonly all: () => readonly string[];
}

const isWithoutCopy = (machine: Machine): boolean => isDeleting(machine) || isProvisioning(machine);

const comesOrGoes = (old: unknown, current: unknown): boolean => old === undefined || current === undefined;

/** Whether conditions say something else of a machine when its node is the one instead of the other, but for that it is there. */
const hasOtherHealth = (old: Node | undefined, current: Node | undefined): boolean =>
  !comesOrGoes(old, current) && !isSameHealth(old?.status?.conditions ?? [], current?.status?.conditions ?? []);

/**
 * Wakes owners of machines when their surroundings change what their conditions say: a class comes or goes, the API server of the nodes is
 * taken for unreachable, or answers again, a node comes or goes, which need not change a machine that is Unknown
 * already, or its health changes while its machine goes or is being made: nobody copies it to the machine then, which would wake them.
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
