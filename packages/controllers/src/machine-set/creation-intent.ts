import { userDataKey } from "@millwright/core";
import { containsPlaceholder, type Machine, userDataPlaceholders } from "@millwright/core/machine-api";
import { resolveNamedClass } from "../cluster/class-view.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { intentAnnotation, intentFor, noRequestAnnotation } from "../model/creation-intent.ts";

/** Without the checks of drivers every class is accepted. */
const anyDriver = { missingDriver: () => undefined };

/**
 * The creation intent of a machine that is about to be created, as annotations: one write less than afterwards. Where class, Secrets or driver prevent a VM, it is recorded
 * that none was requested, so that the machine can be deleted whatever is wrong with them; the machine controller writes the intent when they are fixed.
 */
export async function intentAtBirth(
  machine: Machine,
  {
    caches,
    namespace,
    target,
    classChecks,
  }: Pick<ControllerContext, "caches" | "namespace" | "target" | "classChecks">,
): Promise<Readonly<Record<string, string>>> {
  const resolve = () => resolveNamedClass(machine.spec.class?.name ?? "", caches, namespace, classChecks ?? anyDriver);
  let resolved = resolve();
  if (resolved.unread.length > 0) {
    try {
      await caches.secrets.read(resolved.unread);
    } catch {
      // The machine controller will read them, and report what is wrong.
      return noRequestAnnotation;
    }
    resolved = resolve();
  }
  const { view, secret } = resolved;
  if (view.state === "unusable" || view.unmetPrecondition !== undefined) return noRequestAnnotation;
  const verdict = await classChecks?.check(resolved);
  if (verdict?.state === "rejected") return noRequestAnnotation;
  const userData = secret[userDataKey]?.reveal() ?? "";
  const wantsToken = target !== undefined && containsPlaceholder(userData, userDataPlaceholders.bootstrapToken);
  return intentAnnotation(intentFor(machine, view.machineClass, { wantsToken }));
}
