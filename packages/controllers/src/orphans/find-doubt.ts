/** What is known of the machines when the VMs of a class were listed. */
export interface MachineListFacts {
  /** Whether the cache is up to date: of the current history of the API server, and connected. */
  readonly isCurrent: boolean;
  /** How often the API server was found to have gone back: machines that were created since the backup are missing. */
  readonly epoch: number;
  /** Machines of the namespace. */
  readonly count: number;
  /** Machines that cannot be read. */
  readonly unreadable: readonly string[];
  /** Replicas of all sets. */
  readonly desired: number;
  /** Sets that wait for machines that vanished. */
  readonly awaiting: readonly string[];
  /** CRDs of our kinds that are being deleted, or were. */
  readonly deletedCrds: readonly string[];
}

/** Whether the machines are so few, compared with before, that most of them may just not be listed. */
export const isMuchShorter = (count: number, before: number): boolean => count * 2 < before;

/**
 * Why the list of machines does not prove that a VM has none, as text for people; `undefined` when it does.
 *
 * @param before of the last list of VMs, if this process had one
 */
export function findDoubt(facts: MachineListFacts, before: MachineListFacts | undefined): string | undefined {
  const { isCurrent, epoch, count, unreadable, desired, awaiting, deletedCrds } = facts;
  if (!isCurrent) return "the list of machines is not up to date";
  if (deletedCrds.length > 0) return `CRD ${deletedCrds.join(", ")} is being deleted`;
  if (unreadable.length > 0) return `Machine ${unreadable.join(", ")} cannot be read`;
  if (awaiting.length > 0) return `MachineSet ${awaiting.join(", ")} waits for machines that are missing`;
  if (isMuchShorter(count, desired)) return `there are ${count} machines, but MachineSets want ${desired}`;
  if (before !== undefined && before.epoch !== epoch) return "the API server went back to an earlier state";
  if (before !== undefined && isMuchShorter(count, before.count))
    return `there are ${count} machines, and there were ${before.count} before`;
  return undefined;
}
