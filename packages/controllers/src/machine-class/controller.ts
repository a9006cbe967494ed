import { finalizers, type Machine, type MachineClass, machineClassResource, machineResource } from "@millwright/core";
import { type Controller, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { readAllInto } from "../cluster/read-all-into.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { createControlWriter } from "../cluster/writer.ts";
import { classGuards } from "../guards/owner-guards.ts";
import { createInUseProtectionController } from "../ownership/in-use-protection-controller.ts";
import { classNamesOf } from "../model/class-references.ts";

const isUnreadable = (machine: Machine): boolean => shapeProblemsOf(machine).length > 0;

/** Whether two states of a machine need other classes. A machine that cannot be read may need any. */
const isRelevantChange = (old: Machine | undefined, current: Machine | undefined): boolean => {
  const needs = (machine: Machine | undefined): string =>
    machine === undefined ? "" : JSON.stringify([isUnreadable(machine), ...classNamesOf(machine)]);
  return needs(old) !== needs(current);
};

/** Makes the controller of MachineClasses: a class is kept as long as machines need it, since their VMs cannot be deleted without it. */
export function createMachineClassController(context: ControllerContext, workers: number): Controller {
  const { caches, namespace, control } = context;
  const keyOf = (name: string): string => `${namespace}/${name}`;
  const controller = createInUseProtectionController<MachineClass>(context, {
    name: "machine-class",
    kind: "MachineClass",
    referrerKind: "Machine",
    finalizer: finalizers.machine,
    workers,
    store: caches.classes.store,
    writer: createControlWriter(context, machineClassResource, caches.classes.store),
    waitFor: [caches.classes, caches.machines],
    guards: classGuards(context),
    referrers: (name) => caches.machines.store.byIndex("class", name).map(({ metadata }) => metadata.name),
    countReferrers: () => caches.machines.store.size,
    readReferrers: () => readAllInto(caches.machines.store, control, machineResource, { namespace }),
    unreadable: () =>
      caches.machines.store
        .list()
        .filter(isUnreadable)
        .map(({ metadata }) => metadata.name),
  });
  watchTriggers({ store: caches.classes.store, controller, keys: ({ metadata }) => [keyOf(metadata.name)] });
  watchTriggers({
    store: caches.machines.store,
    controller,
    when: isRelevantChange,
    keys: (machine) =>
      isUnreadable(machine)
        ? caches.classes.store.list().map(({ metadata }) => keyOf(metadata.name))
        : classNamesOf(machine).map(keyOf),
  });
  return controller;
}
