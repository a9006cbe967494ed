/** Since when this process has observed each drain without interruption. A pause or a restart begins a new interval. */
export interface ObservedDrains {
  /** Wall clock, milliseconds; `undefined` for a drain that was not followed until now. */
  since(machine: string): number | undefined;
  /** Records whether the drain of the machine is carried out now: not when it is paused, or its cluster is unreachable. */
  note(machine: string, isCarriedOut: boolean, now: Date): void;
}

/** Makes {@link ObservedDrains} of no drain. */
export function createObservedDrains(): ObservedDrains {
  const since = new Map<string, number>();
  return {
    since: (machine) => since.get(machine),
    note(machine, isCarriedOut, now) {
      if (!isCarriedOut) since.delete(machine);
      else if (!since.has(machine)) since.set(machine, now.getTime());
    },
  };
}
