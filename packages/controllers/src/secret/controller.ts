import { finalizers, type MachineClass, machineClassResource } from "@millwright/core/machine-api";
import { type Controller, secretResource } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { secretNamesOf } from "../model/class-references.ts";
import type { SecretObject } from "../model/node-objects.ts";
import { createInUseProtectionController } from "../ownership/in-use-protection-controller.ts";

/**
 * Makes the controller of the Secrets of classes: a Secret is kept as long as a class refers to it. Secrets without references and without our
 * finalizer are ignored.
 */
export function createSecretController(context: ControllerContext, workers: number): Controller {
  const { secrets, classes } = context.caches;
  const referringTo = (name: string): readonly MachineClass[] => classes.store.byIndex("secret", name);
  return createInUseProtectionController<SecretObject, MachineClass>(context, {
    name: "secret",
    kind: "Secret",
    type: secretResource,
    finalizer: finalizers.secret,
    workers,
    cache: secrets,
    waitFor: [secrets, classes],
    referrers: {
      kind: "MachineClass",
      type: machineClassResource,
      cache: classes,
      of: referringTo,
      namesIn: secretNamesOf,
    },
    isOurs: ({ metadata }) =>
      metadata.finalizers?.includes(finalizers.secret) === true || referringTo(metadata.name).length > 0,
  });
}
