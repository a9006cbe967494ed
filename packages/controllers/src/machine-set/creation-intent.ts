import { type Machine, userDataKey, userDataPlaceholders, containsPlaceholder } from "@millwright/core";
import { secretNamesOf } from "../model/class-references.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { intentAnnotation, intentFor } from "../model/creation-intent.ts";

/**
 * The creation intent of a machine that is about to be created, as annotations: one write less than afterwards. Empty when its class
 * is not known yet, or its secrets cannot be read; changes until the call of the driver are written then.
 */
export async function intentAtBirth(
  machine: Machine,
  { caches, namespace, target }: Pick<ControllerContext, "caches" | "namespace" | "target">,
): Promise<Readonly<Record<string, string>>> {
  const machineClass = caches.classes.store.getByRef({ namespace, name: machine.spec.class?.name ?? "" });
  if (machineClass === undefined) return {};
  const secrets = secretNamesOf(machineClass);
  try {
    await caches.secrets.read(secrets);
  } catch {
    // The machine controller will read them, and report what is wrong.
    return {};
  }
  const values = secrets.map((name) => caches.secrets.valuesOf(name)?.[userDataKey]);
  // Keys of the credentials' secret win, and it comes last.
  const userData = Buffer.from(values.findLast((value) => value !== undefined) ?? "", "base64").toString("utf8");
  const wantsToken = target !== undefined && containsPlaceholder(userData, userDataPlaceholders.bootstrapToken);
  return intentAnnotation(intentFor(machine, machineClass, { wantsToken }));
}
