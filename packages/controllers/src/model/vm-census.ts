/** VMs of a class that no Machine owns: how many there are, or that they are being listed. */
export type OwnerlessVms =
  | { readonly state: "known"; readonly count: number }
  | { readonly state: "listing"; readonly forMs: number };

/** Which VMs exist, for a set that creates many machines at once. */
export interface VmCensus {
  /**
   * VMs of a class without Machine, from its last list. A list is requested only if there is none, or that one may show `count` of them.
   *
   * @param count from how many on they matter
   */
  ownerless(className: string, count: number): OwnerlessVms;
  /** VMs without Machine that were created for machines of a set, by a list that began after this was first asked. None where VMs cannot be listed, or are not within a minute. */
  lostOf(className: string, setName: string): OwnerlessVms;
  /**
   * Whether no VM of a class is without Machine, by a list that began a minute after this was first asked, or later; a new VM may not be in the lists of its cloud yet. False until there is one,
   * which is requested, for classes whose VMs cannot be listed, and where the list lacks the VM of a Machine, or there is no Machine to compare it with.
   */
  hasNoOwnerless(className: string): boolean;
  /** Calls `listener` with a class whose list was waited for. */
  onChange(listener: (className: string) => void): void;
}
