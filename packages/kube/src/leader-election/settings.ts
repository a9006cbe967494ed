import { ConfigError } from "@millwright/base";

/** Times of a leader election, milliseconds. */
export interface ElectionTimes {
  /** How long a lease is valid after its last renewal. Whole seconds. Default 15 s, as in client-go. */
  readonly leaseDurationMs?: number | undefined;
  /** The leader stops leading when it could not renew for so long. Default 10 s. */
  readonly renewDeadlineMs?: number | undefined;
  /**
   * How often the leader checks its leases: it renews each second time, and repeats a renewal that failed the next time. The other candidates
   * read the lease after 0.6 to 0.8 of it. Default 2 s.
   */
  readonly retryPeriodMs?: number | undefined;
}

/** As {@link ElectionTimes}, with all defaults. */
export type ElectionSettings = { readonly [Name in keyof ElectionTimes]-?: number };

/**
 * How long a candidate waits between two reads of a lease that another process holds, in retry periods. With the jitter it is 0.8 at most, so
 * that a lease that was released is held again within two seconds by default; client-go needs up to 2.4 s.
 */
export const followerPace = 0.6;

/** After how many retry periods the leader renews: half of the writes of client-go, which renews after each of them. */
const renewalPace = 2;

/** How much of the renew deadline may pass until the next renewal, so that there is time to repeat it. */
const renewalShare = 0.4;

/**
 * After how long the leader renews a lease, milliseconds: 4 s by default. Three attempts remain until the renew deadline. Never less than the retry period. When another
 * process may acquire the lease does not depend on it: others wait for the whole lease after the last renewal.
 */
export const renewalPeriodMs = ({ retryPeriodMs, renewDeadlineMs }: ElectionSettings): number =>
  Math.max(retryPeriodMs, Math.min(retryPeriodMs * renewalPace, renewDeadlineMs * renewalShare));

/** Jitter of the other candidates, so that they do not send requests at once. Source: client-go, `JitterFactor`. */
export const followerJitter = 0.2;

/**
 * Fills in the defaults and checks the rules of client-go: a leader must stop before another process may acquire
 * the lease.
 *
 * @throws ConfigError
 */
export function readElectionTimes(times: ElectionTimes = {}): ElectionSettings {
  const settings = {
    leaseDurationMs: times.leaseDurationMs ?? 15_000,
    renewDeadlineMs: times.renewDeadlineMs ?? 10_000,
    retryPeriodMs: times.retryPeriodMs ?? 2_000,
  };
  const fail = (text: string): never => {
    throw new ConfigError(`leader election: ${text}`);
  };
  for (const [name, ms] of Object.entries(settings)) {
    if (!Number.isFinite(ms) || ms <= 0) fail(`${name} is ${ms}; must be a positive number of milliseconds`);
  }
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
  if (leaseDurationMs % 1_000 !== 0) fail(`leaseDurationMs is ${leaseDurationMs}; must be whole seconds`);
  if (renewDeadlineMs >= leaseDurationMs) {
    fail(`renewDeadlineMs (${renewDeadlineMs}) must be less than leaseDurationMs (${leaseDurationMs})`);
  }
  if (retryPeriodMs * (1 + followerJitter) >= renewDeadlineMs) {
    fail(`retryPeriodMs (${retryPeriodMs}) must be less than renewDeadlineMs (${renewDeadlineMs}) divided by 1.2`);
  }
  return settings;
}
