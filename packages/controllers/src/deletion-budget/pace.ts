/** What an approval with a pace has to look at: the machines of its object. */
export interface PaceView {
  /** Machines whose deletion has begun, and that exist. */
  readonly inDeletion: number;
  /** Machines in service whose deletion has not begun. */
  readonly inService: number;
  /** Machines that the sets are to have. */
  readonly desired: number;
}

/**
 * How many more deletions may begin. Those in deletion count, and so do those that are gone until as many machines are in service as there are to be: what replaces a machine has to serve before the next one goes.
 *
 * @param atATime of the approval. Absent: no pace
 */
export const roomOfPace = (atATime: number | undefined, { inDeletion, inService, desired }: PaceView): number =>
  atATime === undefined ? Infinity : Math.max(0, atATime - Math.max(inDeletion, desired - inService));
