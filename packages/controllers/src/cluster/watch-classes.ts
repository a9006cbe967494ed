import type { MachineClass } from "@millwright/core/machine-api";
import { type Controller, equalJson, watchTriggers, type Priority } from "@millwright/kube";
import type { SecretObject } from "../model/node-objects.ts";
import type { ControlCaches } from "./caches.ts";
import { givenAnnotations } from "./class-view.ts";

/** Whether a class changed in fields that machines read. Its finalizers, and what the controllers write on it, do not matter to machines. */
export const isClassChange = (old: MachineClass | undefined, current: MachineClass | undefined): boolean => {
  const content = (machineClass: MachineClass | undefined): unknown => {
    if (machineClass === undefined) return undefined;
    const { metadata, ...rest } = machineClass;
    return { ...rest, uid: metadata.uid, annotations: givenAnnotations(machineClass) };
  };
  return !equalJson(content(old), content(current));
};

/** Whether a secret was created, deleted, or has other values. */
export const isSecretChange = (old: SecretObject | undefined, current: SecretObject | undefined): boolean =>
  old?.metadata.uid !== current?.metadata.uid || old?.digest !== current?.digest;

/**
 * Enqueues what depends on a class when the class or one of its Secrets changes.
 *
 * @param keysOf keys of what depends on the class of that name
 * @param priority default: that of a change
 */
export function watchClasses(
  { classes, secrets }: Pick<ControlCaches, "classes" | "secrets">,
  controller: Pick<Controller, "enqueue">,
  keysOf: (name: string) => readonly string[],
  priority?: Priority,
): void {
  const common = { controller, priority: priority && (() => priority) };
  const keys = ({ metadata }: MachineClass): readonly string[] => keysOf(metadata.name);
  watchTriggers({ ...common, store: classes.store, when: isClassChange, keys });
  watchTriggers({
    ...common,
    store: secrets.store,
    when: isSecretChange,
    keys: ({ metadata }) => classes.store.byIndex("secret", metadata.name).flatMap(keys),
  });
}
