import { ConfigError } from "@millwright/base";

/** Times of a leader election, milliseconds. */
export interface ElectionTimes {
  /** How long a lease is good after its last renewal, as others see it. Whole seconds. Default 15 s, as in client-go. */
  readonly leaseDurationMs?: number | undefined;
  /** The leader gives up when it could not renew for so long. Default 10 s. */
  readonly renewDeadlineMs?: number | undefined;
  /** How often the leader renews and the others look (up to a fifth later). Default 2 s. */
  readonly retryPeriodMs?: number | undefined;
}

/** As {@link ElectionTimes}, with all defaults. */
export type ElectionSettings = { readonly [Name in keyof ElectionTimes]-?: number };

/** Followers wait up to this much longer, so that they do not all come at once. Source: client-go, `JitterFactor`. */
export const followerJitter = 0.2;

/**
 * Fills in the defaults and checks what client-go checks: whoever gives up later than others may take over would not know that
 * it has been succeeded.
 *
 * @throws ConfigError
 */
export function readElectionTimes(times: ElectionTimes = {}): ElectionSettings {
  const settings = {
    leaseDurationMs: times.leaseDurationMs ?? 15_000,
    renewDeadlineMs: times.renewDeadlineMs ?? 10_000,
    retryPeriodMs: times.retryPeriodMs ?? 2_000,
  };
  const refuse = (text: string): never => {
    throw new ConfigError(`leader election: ${text}`);
  };
  for (const [name, ms] of Object.entries(settings)) {
    if (!Number.isFinite(ms) || ms <= 0) refuse(`${name} is ${ms}; expected a positive number of milliseconds`);
  }
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
  if (leaseDurationMs % 1_000 !== 0) refuse(`leaseDurationMs is ${leaseDurationMs}; expected whole seconds`);
  if (renewDeadlineMs >= leaseDurationMs) {
    refuse(`renewDeadlineMs (${renewDeadlineMs}) must be less than leaseDurationMs (${leaseDurationMs})`);
  }
  if (retryPeriodMs * (1 + followerJitter) >= renewDeadlineMs) {
    refuse(`retryPeriodMs (${retryPeriodMs}) must be less than renewDeadlineMs (${renewDeadlineMs}) divided by 1.2`);
  }
  return settings;
}
