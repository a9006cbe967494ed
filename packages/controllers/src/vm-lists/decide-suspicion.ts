/** The VM of a machine that a complete list lacks. */
export interface Suspicion {
  readonly providerId: string;
  /** When the first list that lacks it was requested; monotonic clock. */
  readonly sinceMs: number;
  /** When the kubelet of its node had reported last by then, by the clock of the node; 0 without a node. */
  readonly lastReport: number;
}

/** A list that lacks so many VMs, and more than half of them, is not about the VMs: the class or the credentials changed. */
const DOUBTFUL_COUNT = 3;

/** Whether a list that lacks VMs of this many machines, of all that have one, proves nothing. */
export const isDoubtful = (missing: number, machines: number): boolean =>
  missing >= DOUBTFUL_COUNT && missing * 2 > machines;

/**
 * What another list that lacks the VM of a machine means: it begins a suspicion, or it is due for confirmation by the driver. A kubelet that has reported since proves that
 * the VM exists, and so does the time before: a cloud may not list a new VM at once.
 */
export function decideSuspicion(
  known: Suspicion | undefined,
  current: Suspicion,
  confirmAfterMs: number,
): { readonly suspicion: Suspicion; readonly isDue: boolean } {
  const isSame =
    known !== undefined && known.providerId === current.providerId && known.lastReport >= current.lastReport;
  return isSame
    ? { suspicion: known, isDue: current.sinceMs - known.sinceMs >= confirmAfterMs }
    : { suspicion: current, isDue: false };
}
