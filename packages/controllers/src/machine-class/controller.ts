import {
  finalizers,
  type Machine,
  type MachineClass,
  machineClassResource,
  machineResource,
} from "@millwright/core/machine-api";
import type { Controller } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { classGuards } from "../guards/owner-guards.ts";
import { classNamesOf } from "../model/class-references.ts";
import { createInUseProtectionController } from "../ownership/in-use-protection-controller.ts";

/** Makes the controller of MachineClasses: a class is kept as long as machines need it, since their VMs cannot be deleted without it. */
export function createMachineClassController(context: ControllerContext, workers: number): Controller {
  const { classes, machines } = context.caches;
  return createInUseProtectionController<MachineClass, Machine>(context, {
    name: "machine-class",
    kind: "MachineClass",
    type: machineClassResource,
    finalizer: finalizers.machine,
    workers,
    cache: classes,
    waitFor: [classes, machines],
    guards: classGuards(context),
    referrers: {
      kind: "Machine",
      type: machineResource,
      cache: machines,
      of: (name) => machines.store.byIndex("class", name),
      namesIn: classNamesOf,
    },
  });
}
