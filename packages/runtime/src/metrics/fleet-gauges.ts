import {
  type ControlCaches,
  countHeld,
  type CrdGuard,
  type Guard,
  isProtected,
  markedStage,
  ownersOfMachine,
  protectorOf,
  readQuarantine,
  shapeProblemsOf,
} from "@millwright/controllers";
import { type Machine, ownMetricNames as names } from "@millwright/core/machine-api";
import type { Registry } from "prom-client";
import { registerIn } from "./register.ts";

type FleetCaches = Pick<ControlCaches, "machines" | "sets" | "deployments">;

/** Adds the gauge of objects that are held, whatever holds them. */
export function measureHeldObjects(
  registry: Registry,
  namespace: string,
  guards: readonly Guard<Machine>[],
  caches: FleetCaches,
): void {
  const help = "Objects that are not acted on, by what holds them.";
  registerIn(registry).gauge(names.heldObjects, help, ["namespace", "by", "kind"], () =>
    countHeld(guards, caches).map(({ by, kind, count }) => [{ namespace, by, kind }, count] as const),
  );
}

/** Adds the gauge of deletions that are paused because a CustomResourceDefinition is being deleted. A deletion whose cause is not known yet does not count. */
export function measurePausedDeletions(
  registry: Registry,
  namespace: string,
  crdGuard: Pick<CrdGuard, "deletionVerdictOf">,
  { machines, sets, deployments }: FleetCaches,
): void {
  const isPaused = (...object: Parameters<CrdGuard["deletionVerdictOf"]>): boolean =>
    crdGuard.deletionVerdictOf(...object).verdict === "paused";
  // A deletion that had started continues.
  const hasStarted = (machine: Machine): boolean => markedStage({ machine }) !== undefined;
  const help = "Terminating objects whose deletion is paused because a CustomResourceDefinition was deleted.";
  registerIn(registry).gauge(names.pausedDeletions, help, ["namespace", "kind"], function* () {
    const counts = {
      Machine: machines.store.list().filter((each) => isPaused("Machine", each, hasStarted(each))),
      MachineSet: sets.store.list().filter((each) => isPaused("MachineSet", each, false)),
      MachineDeployment: deployments.store.list().filter((each) => isPaused("MachineDeployment", each, false)),
    };
    for (const [kind, paused] of Object.entries(counts)) yield [{ namespace, kind }, paused.length];
  });
}

/** Adds the gauge of terminating objects that deletion protection keeps. A machine whose VM was deleted before does not count. */
export function measureProtectedDeletions(registry: Registry, namespace: string, caches: FleetCaches): void {
  const isTerminating = ({ metadata }: Pick<Machine, "metadata">): boolean => metadata.deletionTimestamp != null;
  const hasVm = (machine: Machine): boolean =>
    !["DeleteNode", "RemoveFinalizer"].includes(markedStage({ machine }) ?? "");
  const isKept = (machine: Machine): boolean =>
    isTerminating(machine) &&
    hasVm(machine) &&
    protectorOf(machine, ownersOfMachine(machine, { caches, namespace })) !== undefined;
  const help = "Terminating objects that deletion protection keeps.";
  registerIn(registry).gauge(names.protectedDeletions, help, ["namespace", "kind"], function* () {
    const deployments = caches.deployments.store.list();
    yield [{ namespace, kind: "Machine" }, caches.machines.store.list().filter(isKept).length];
    yield [
      { namespace, kind: "MachineDeployment" },
      deployments.filter((each) => isTerminating(each) && isProtected(each)).length,
    ];
  });
}

/** Adds the gauge of VMs without Machine that are in quarantine, by the records on their classes. */
export function measureOrphanVms(
  registry: Registry,
  namespace: string,
  { classes }: Pick<ControlCaches, "classes">,
): void {
  const help = "VMs without Machine that are in quarantine.";
  registerIn(registry).gauge(names.orphanVms, help, ["namespace", "machine_class"], () =>
    classes.store
      .list()
      .map((each) => [{ namespace, machine_class: each.metadata.name }, readQuarantine(each).vms.size]),
  );
}

/** Adds the gauge of objects that cannot be read at the moment. A kind without its first list has no value. */
export function measureUnreadableObjects(
  registry: Registry,
  namespace: string,
  caches: FleetCaches & Pick<ControlCaches, "classes">,
): void {
  const kinds = {
    Machine: caches.machines,
    MachineSet: caches.sets,
    MachineDeployment: caches.deployments,
    MachineClass: caches.classes,
  };
  const help = "Objects that cannot be read: fields have a wrong type.";
  registerIn(registry).gauge(names.unreadableObjects, help, ["kind", "namespace"], function* () {
    for (const [kind, { store, hasSynced }] of Object.entries(kinds)) {
      const objects: readonly object[] = store.list();
      if (hasSynced())
        yield [{ kind, namespace }, objects.filter((object) => shapeProblemsOf(object).length > 0).length];
    }
  });
}
