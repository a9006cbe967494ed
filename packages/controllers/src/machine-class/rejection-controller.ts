import {
  eventReasons,
  formatProblems,
  type MachineClass,
  type MachineSet,
  validateMachineClass,
} from "@millwright/core";
import { type Controller, createController, keyOf, objectFields, watchTriggers } from "@millwright/kube";
import { isClassChange } from "../cluster/watch-classes.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import type { MachineDriver } from "../model/driver-port.ts";

/** Why no machine of a class can be created, from the class alone: its Secrets are read when a machine needs them. */
async function rejectionOf(
  machineClass: MachineClass,
  driver: Pick<MachineDriver, "missingDriver" | "rejectionOf">,
): Promise<string | undefined> {
  const subject = `MachineClass "${machineClass.metadata.name}"`;
  const problems = [...shapeProblemsOf(machineClass), ...validateMachineClass(machineClass)];
  if (problems.length > 0) return `${subject}: ${formatProblems(problems)}`;
  const missing = driver.missingDriver(machineClass);
  if (missing !== undefined) return `${subject}: ${missing}`;
  return (await driver.rejectionOf(machineClass, undefined))?.problem;
}

/**
 * Makes the controller that reports a class of which no machine can be created, once for each problem: on the class, and on the sets and deployments that refer to it. Otherwise it would be
 * noticed with the next machine only, which may be months after another driver took over.
 */
export function createClassRejectionController(
  context: ControllerContext,
  driver: Pick<MachineDriver, "missingDriver" | "rejectionOf">,
): Controller {
  const { caches, namespace, clock, random, log, events } = context;
  const { store } = caches.classes;
  /** The last report by UID of the class. */
  const reported = new Map<string, string>();

  const refersTo =
    (name: string) =>
    ({ spec }: Pick<MachineSet, "spec">): boolean =>
      spec?.template?.spec?.class?.name === name;

  const controller = createController({
    name: "machine-class-rejection",
    workers: 1,
    waitFor: [caches.classes, caches.sets, caches.deployments],
    allKeys: () => store.list(namespace).map(keyOf),
    clock,
    random,
    log,
    reconcile: async (key) => {
      const machineClass = store.get(key);
      if (machineClass === undefined) return { done: true };
      const { name, uid = "" } = machineClass.metadata;
      const message = await rejectionOf(machineClass, driver);
      if (message === reported.get(uid)) return { done: true };
      if (message === undefined) {
        reported.delete(uid);
        return { done: true };
      }
      reported.set(uid, message);
      const event = { type: "Warning", reason: eventReasons.invalidMachineClass, message } as const;
      const owners = [...caches.deployments.store.list(namespace), ...caches.sets.store.list(namespace)];
      for (const object of [...owners.filter(refersTo(name)), machineClass]) events.record(object, event);
      log("warn", event.reason, { ...objectFields(machineClass), because: message });
      return { done: true };
    },
  });
  watchTriggers({
    store,
    controller,
    when: isClassChange,
    keys: ({ metadata }) => [`${namespace}/${metadata.name}`],
  });
  store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid !== undefined && uid !== current?.metadata.uid) reported.delete(uid);
  });
  return controller;
}
