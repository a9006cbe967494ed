import { finalizers, type MachineClass, machineClassResource } from "@millwright/core";
import { type Controller, secretResource, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import type { SecretObject } from "../model/node-objects.ts";
import { readAllInto } from "../cluster/read-all-into.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { createControlWriter } from "../cluster/writer.ts";
import { secretNamesOf } from "../model/class-references.ts";
import { createInUseProtectionController } from "../ownership/in-use-protection-controller.ts";

const isUnreadable = (machineClass: MachineClass): boolean => shapeProblemsOf(machineClass).length > 0;

/** Whether two states of a class refer to other secrets. A class that cannot be read may refer to any. */
const isRelevantChange = (old: MachineClass | undefined, current: MachineClass | undefined): boolean => {
  const refersTo = (machineClass: MachineClass | undefined): string =>
    machineClass === undefined ? "" : JSON.stringify([isUnreadable(machineClass), ...secretNamesOf(machineClass)]);
  return refersTo(old) !== refersTo(current);
};

/**
 * Makes the controller of the Secrets of classes: a Secret is kept as long as a class refers to it. Secrets without references and without our
 * finalizer are ignored.
 */
export function createSecretController(context: ControllerContext, workers: number): Controller {
  const { caches, namespace, control } = context;
  const keyOf = (name: string): string => `${namespace}/${name}`;
  const isHeld = ({ metadata }: SecretObject): boolean => metadata.finalizers?.includes(finalizers.secret) === true;
  const isOurs = (secret: SecretObject): boolean =>
    isHeld(secret) || caches.classes.store.byIndex("secret", secret.metadata.name).length > 0;
  const controller = createInUseProtectionController<SecretObject>(context, {
    name: "secret",
    kind: "Secret",
    referrerKind: "MachineClass",
    finalizer: finalizers.secret,
    workers,
    store: caches.secrets.store,
    writer: createControlWriter(context, secretResource, caches.secrets.store),
    waitFor: [caches.secrets, caches.classes],
    isOurs,
    referrers: (name) => caches.classes.store.byIndex("secret", name).map(({ metadata }) => metadata.name),
    countReferrers: () => caches.classes.store.size,
    readReferrers: () => readAllInto(caches.classes.store, control, machineClassResource, { namespace }),
    unreadable: () =>
      caches.classes.store
        .list()
        .filter(isUnreadable)
        .map(({ metadata }) => metadata.name),
  });
  watchTriggers({
    store: caches.secrets.store,
    controller,
    keys: (secret) => (isOurs(secret) ? [keyOf(secret.metadata.name)] : []),
  });
  watchTriggers({
    store: caches.classes.store,
    controller,
    when: isRelevantChange,
    keys: (machineClass) =>
      isUnreadable(machineClass)
        ? caches.secrets.store
            .list()
            .filter(isHeld)
            .map(({ metadata }) => keyOf(metadata.name))
        : secretNamesOf(machineClass).map(keyOf),
  });
  return controller;
}
