/** Flags for leases that are short enough for a quick failover, but long enough that a busy computer renews in time. */
export const shortLeases = [
  "--leader-elect-lease-duration=5s",
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=400ms",
] as const;
