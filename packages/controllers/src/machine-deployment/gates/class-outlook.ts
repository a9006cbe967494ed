import type { MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { messageOf } from "@millwright/kube";
import { isUnchecked, withVerdict } from "../../cluster/class-checks.ts";
import { resolveNamedClass } from "../../cluster/class-view.ts";
import type { ControllerContext } from "../../cluster/context.ts";
import type { Guard, MissingFacts } from "../../model/hold.ts";
import { isRollingOut } from "../state/rollout.ts";
import type { UnusableClass } from "../state/snapshot.ts";

/** How long the failure to read the Secrets of a class counts, milliseconds: then they are read again. */
const RETRY_MS = 30_000;

/** Without the checks of drivers every class is accepted. */
const anyDriver = { missingDriver: () => undefined };

/** Whether machines can be made from the class of a template: a rollout to a class from which none can be made would replace sound machines by none. */
export interface ClassOutlook {
  /** `undefined`: nothing is known that is against it. */
  problemOf(deployment: MachineDeployment): UnusableClass | undefined;
  /** What is to be read, or asked of the driver, before that is known. */
  missingOf(deployment: MachineDeployment): MissingFacts | undefined;
}

const classOf = ({ spec }: MachineDeployment): string => spec.template.spec.class?.name ?? "";

/**
 * The guard of deployments that holds nothing, and reads what a rollout has to know about its class before it begins. Others are not kept waiting for it.
 *
 * @param ownedBy the sets of a deployment
 */
export const classGuard = (
  outlook: ClassOutlook,
  ownedBy: (deployment: MachineDeployment) => readonly MachineSet[],
): Guard<MachineDeployment> => ({
  name: "class",
  of: (deployment) =>
    (isRollingOut(deployment, ownedBy(deployment)) ? outlook.missingOf(deployment) : undefined) ?? "proceed",
});

/** Makes the outlook of classes in the caches of a controller. */
export function createClassOutlook({
  caches,
  namespace,
  classChecks,
  clock,
}: Pick<ControllerContext, "caches" | "namespace" | "classChecks" | "clock">): ClassOutlook {
  /** Failed reads by class; bounded by the number of classes. */
  const failures = new Map<string, Required<UnusableClass>>();
  const failureOf = (name: string): UnusableClass | undefined => {
    const failure = failures.get(name);
    if (failure !== undefined && failure.until <= clock.now()) failures.delete(name);
    return failures.get(name);
  };
  const resolve = (name: string) => resolveNamedClass(name, caches, namespace, classChecks ?? anyDriver);

  return {
    problemOf(deployment) {
      const name = classOf(deployment);
      const resolved = resolve(name);
      if (resolved.unread.length > 0) return failureOf(name);
      const { view } = withVerdict(resolved, classChecks);
      const problem = view.state === "unusable" ? view : view.unmetPrecondition;
      return problem === undefined ? undefined : { problem: problem.problem };
    },
    missingOf(deployment) {
      const name = classOf(deployment);
      const resolved = resolve(name);
      if (resolved.unread.length === 0) {
        return classChecks !== undefined && isUnchecked(resolved, classChecks)
          ? { read: () => classChecks.check(resolved) }
          : undefined;
      }
      if (failureOf(name) !== undefined) return undefined;
      const read = async (): Promise<void> => {
        try {
          await caches.secrets.read(resolved.unread);
        } catch (error) {
          const problem = `MachineClass "${name}": its Secrets cannot be read: ${messageOf(error)}`;
          failures.set(name, { problem, until: new Date(clock.now().getTime() + RETRY_MS) });
        }
      };
      return { read };
    },
  };
}
