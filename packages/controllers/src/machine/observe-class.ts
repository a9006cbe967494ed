import type { SecretData } from "@millwright/base";
import { userDataKey } from "@millwright/core";
import { containsPlaceholder, type Machine, userDataPlaceholders } from "@millwright/core/machine-api";
import { isUnchecked, withVerdict } from "../cluster/class-checks.ts";
import { type ResolvedClass, resolveClass } from "../cluster/class-view.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { MissingFacts } from "../model/hold.ts";
import { hasId } from "../model/provisioning.ts";
import { fallbackClassFor, remedyFor } from "./deletion/fallback-class.ts";

/** Whether the driver must have accepted the class before anything is decided: an existing VM is worked on with any class. */
const needsVerdict = (machine: Machine): boolean => !hasId(machine) && machine.metadata.deletionTimestamp == null;

/** The class of a machine; for a terminating machine without a usable class, a fallback class. */
export function observeClass(
  machine: Machine,
  { caches, namespace, classChecks }: ControllerContext,
  driver: MachineDriver,
): ResolvedClass {
  const own = resolveClass(machine, caches, namespace, driver);
  if (needsVerdict(machine)) return withVerdict(own, classChecks);
  if (own.view.state === "usable" || machine.metadata.deletionTimestamp === undefined) return own;
  // Its Secret is read first: a process that has just started knows none.
  if (own.unread.length > 0) return own;
  const fallback = fallbackClassFor(machine, caches, namespace, driver);
  if (fallback !== undefined) return fallback;
  return { ...own, view: { ...own.view, problem: `${own.view.problem}${remedyFor(machine)}` } };
}

/** What has to be read, or asked of the driver, before a decision about the machine may rely on its class. */
export const missingOfClass = (
  machine: Machine,
  resolved: ResolvedClass,
  { caches, classChecks }: Pick<ControllerContext, "caches" | "classChecks">,
): readonly MissingFacts[] => [
  ...(resolved.unread.length === 0 ? [] : [{ read: () => caches.secrets.read(resolved.unread) }]),
  ...(needsVerdict(machine) && classChecks !== undefined && isUnchecked(resolved, classChecks)
    ? [{ read: () => classChecks.check(resolved) }]
    : []),
];

/** Whether the user data of a machine without VM contains the placeholder of a bootstrap token. */
export const wantsToken = (machine: Machine, secret: SecretData): boolean =>
  !hasId(machine) && containsPlaceholder(secret[userDataKey]?.reveal() ?? "", userDataPlaceholders.bootstrapToken);
