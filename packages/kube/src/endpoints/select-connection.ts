/** An open connection of a server. */
export interface HeldConnection {
  /** The address of the other side. */
  readonly peer: string;
  /** Whether a request is being answered. */
  readonly isBusy: boolean;
}

/** How many connections a server holds. */
export interface ConnectionLimits {
  readonly total: number;
  readonly perPeer: number;
}

/** The peer that has most connections; the first one of several. */
function busiestPeer(counts: ReadonlyMap<string, number>): string | undefined {
  let found: string | undefined;
  for (const [peer, count] of counts) if (count > (counts.get(found ?? "") ?? 0)) found = peer;
  return found;
}

/**
 * Selects the connection that is closed for a new one: of the peer with too many, or with most. One without a request is closed first, so that a peer with hundreds
 * of them shuts out no probe and no other peer.
 *
 * @param held the open connections, the longest idle first and the new one last
 */
export function selectConnectionToClose<T extends HeldConnection>(
  held: readonly T[],
  { total, perPeer }: ConnectionLimits,
): T | undefined {
  const counts = new Map<string, number>();
  for (const { peer } of held) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  const newest = held.at(-1)?.peer ?? "";
  const isTooMany = (counts.get(newest) ?? 0) > perPeer;
  if (!isTooMany && held.length <= total) return undefined;
  const peer = isTooMany ? newest : busiestPeer(counts);
  const candidates = held.filter((each) => each.peer === peer);
  const idle = candidates.find(({ isBusy }) => !isBusy);
  // The new connection has no request yet: it is closed only where its peer has no other.
  return idle === undefined || idle === held.at(-1) ? candidates[0] : idle;
}
