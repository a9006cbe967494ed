import type { Clock, ListedMachine } from "@millwright/core";

/** Which classes list a VM: those of one account and cluster list the same VMs. */
export interface ListedVms {
  record(className: string, vms: readonly ListedMachine[]): void;
  /** Whether the class is the first in the alphabet of those that list the VM: one class deletes it. */
  isFirst(className: string, providerId: string): boolean;
  forget(className: string): void;
}

/** Keeps the last list of each class. A list that is older than `validMs` does not count: the class cannot be listed any more. */
export function createListedVms(validMs: number, clock: Pick<Clock, "monotonicMs">): ListedVms {
  const lists = new Map<string, { readonly ids: ReadonlySet<string>; readonly atMs: number }>();
  return {
    record: (className, vms) =>
      void lists.set(className, {
        ids: new Set(vms.map(({ providerId }) => providerId)),
        atMs: clock.monotonicMs(),
      }),
    isFirst: (className, providerId) =>
      ![...lists].some(
        ([other, { ids, atMs }]) => other < className && ids.has(providerId) && clock.monotonicMs() - atMs < validMs,
      ),
    forget: (className) => void lists.delete(className),
  };
}
