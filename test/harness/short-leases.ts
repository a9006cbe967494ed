/** Flags for leases so short that a process is succeeded soon, but not so short that a busy computer misses a renewal. */
export const shortLeases = [
  "--leader-elect-lease-duration=5s",
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=400ms",
] as const;
