import { finalizers, type MachineClass, machineClassResource } from "@millwright/core";
import { type Controller, createController, watchTriggers } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { createWriter } from "../cluster/writer.ts";
import { addFinalizerPatch, removeFinalizerPatch } from "../ownership/finalizer-patch.ts";
import { decideMachineClass } from "./decide.ts";

/** Makes the controller of MachineClasses: a class stays as long as machines refer to it. */
export function createMachineClassController(context: ControllerContext, workers: number): Controller {
  const { caches, namespace, control, clock, random, log, events } = context;
  const writer = createWriter<MachineClass>({ api: control, type: machineClassResource, store: caches.classes.store });
  const controller = createController({
    name: "machine-class",
    workers,
    waitFor: [caches.classes, caches.machines],
    clock,
    random,
    log,
    reconcile: async (key) => {
      const machineClass = caches.classes.store.get(key);
      if (machineClass === undefined) return { done: true };
      const { name } = machineClass.metadata;
      const machines = caches.machines.store.byIndex("class", name).length;
      return carryOut(
        decideMachineClass({ machineClass, machines }),
        async (action) => {
          const patch = action.kind === "AddFinalizer" ? addFinalizerPatch : removeFinalizerPatch;
          await writer.patch({ namespace, name }, patch(machineClass, finalizers.machine));
        },
        { object: machineClass, writer, events, log },
      );
    },
  });
  watchTriggers({ store: caches.classes.store, controller, keys: ({ metadata }) => [`${namespace}/${metadata.name}`] });
  watchTriggers({
    store: caches.machines.store,
    controller,
    // Only the first and the last machine of a class matter to it.
    when: (old, current) => old?.spec.class?.name !== current?.spec.class?.name,
    keys: ({ spec }) => (spec.class?.name === undefined ? [] : [`${namespace}/${spec.class.name}`]),
  });
  return controller;
}
