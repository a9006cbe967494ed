import type { Clock } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";

/**
 * Keeps the last list of each class, for those of one account and cluster list the same VMs. A list that is older than `validMs` does not count: the class cannot be listed any
 * more.
 */
export function createListedVms(validMs: number, clock: Pick<Clock, "monotonicMs">) {
  const lists = new Map<string, { readonly ids: ReadonlySet<string>; readonly atMs: number }>();
  return {
    record(className: string, vms: readonly ListedMachine[]): void {
      lists.set(className, { ids: new Set(vms.map(({ providerId }) => providerId)), atMs: clock.monotonicMs() });
    },
    /** Whether the class is the first in the alphabet of those that list the VM: one class deletes it. */
    isFirst: (className: string, providerId: string): boolean =>
      ![...lists].some(
        ([other, { ids, atMs }]) => other < className && ids.has(providerId) && clock.monotonicMs() - atMs < validMs,
      ),
    forget: (className: string): void => void lists.delete(className),
  };
}
