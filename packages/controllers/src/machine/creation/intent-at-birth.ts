import { type Machine, userDataKey, userDataPlaceholders, containsPlaceholder } from "@millwright/core";
import { secretNamesOf } from "../../machine-class/references.ts";
import type { ControllerContext } from "../../cluster/context.ts";
import { intentAnnotation, intentFor } from "./intent.ts";

/**
 * What will be asked of the driver for a machine that is about to be declared, as annotations: one write less than when it is found out afterwards. Empty where its class
 * is not known yet; what changes until the driver is asked is written then.
 */
export function intentAtBirth(
  machine: Machine,
  { caches, namespace, target }: Pick<ControllerContext, "caches" | "namespace" | "target">,
): Readonly<Record<string, string>> {
  const machineClass = caches.classes.store.getByRef({ namespace, name: machine.spec.class?.name ?? "" });
  if (machineClass === undefined) return {};
  const values = secretNamesOf(machineClass).map(
    (name) => caches.secrets.store.getByRef({ namespace, name })?.data?.[userDataKey],
  );
  // Keys of the credentials' secret win, and it comes last.
  const userData = Buffer.from(values.findLast((value) => value !== undefined) ?? "", "base64").toString("utf8");
  const wantsToken = target !== undefined && containsPlaceholder(userData, userDataPlaceholders.bootstrapToken);
  return intentAnnotation(intentFor(machine, machineClass, { wantsToken }));
}
