/**
 * An estimate of the rate that a cloud grants to one kind of request. Clouds refill a token bucket at a constant rate
 * (https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html, https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling).
 * It is empty whenever a request is throttled, so the requests accepted between two such failures measure the rate.
 */
export interface GrantedRate {
  /** Right after the last rejection, requests per second. */
  readonly perSecond: number;
  /** False until a rate has been measured, and again when nothing is accepted. */
  readonly isMeasured: boolean;
  /** Requests accepted that were sent after the last rejection. The rate grows with them. */
  readonly accepted: number;
  /** Since when requests have been waiting without a break, by the monotonic clock, and how many were accepted since. */
  readonly busySinceMs: number;
  readonly acceptedWhileBusy: number;
}

/** After the first rejection, which does not measure the rate. */
const firstPerSecond = 1;
/** Minimum rate, even when no request is accepted. */
const leastPerSecond = 0.2;
/** The part of the measured rate that is used. The rest refills the bucket, for requests that probe a higher rate. */
const usedPart = 0.9;
/** So many accepted requests double a measured rate: about one in sixty is rejected in the long run. */
const doublingRequests = 80;
const shortPauseMs = 1_000;

/** When to begin to measure. A short pause fills no bucket to the brim, so that what was refilled meanwhile shows; a long one may. */
const measureFrom = (nowMs: number, resumeMs: number): number => Math.max(nowMs, resumeMs - shortPauseMs);

/** After the first rejection. `resumeMs` as in {@link afterRejection}. */
export const firstRate = (nowMs: number, resumeMs: number): GrantedRate => ({
  perSecond: firstPerSecond,
  isMeasured: false,
  accepted: 0,
  busySinceMs: measureFrom(nowMs, resumeMs),
  acceptedWhileBusy: 0,
});

/** How many requests per second to send now. An unknown rate is looked for quickly, a known one is exceeded carefully. */
export const sendRate = ({ perSecond, isMeasured, accepted }: GrantedRate): number =>
  perSecond * (1 + (isMeasured ? (accepted / doublingRequests) ** 2 : accepted));

/** After a request was accepted; `isCurrent` when it was sent after the last rejection. */
export const afterAcceptance = (rate: GrantedRate, isCurrent: boolean): GrantedRate => ({
  ...rate,
  accepted: rate.accepted + (isCurrent ? 1 : 0),
  acceptedWhileBusy: rate.acceptedWhileBusy + 1,
});

/** When requests come after none was waiting: meanwhile the bucket has filled, which is not measured. */
export const afterIdleness = (rate: GrantedRate, nowMs: number): GrantedRate => ({
  ...rate,
  busySinceMs: nowMs,
  acceptedWhileBusy: 0,
});

/**
 * After a request was rejected that was sent at this rate.
 *
 * @param resumeMs when the next one may be sent, by the monotonic clock: a pause that the cloud asks for fills the bucket, too
 */
export function afterRejection(rate: GrantedRate, nowMs: number, resumeMs: number): GrantedRate {
  const { accepted, acceptedWhileBusy, busySinceMs } = rate;
  const sentPerSecond = sendRate(rate);
  // What is left of a token at both ends makes up to one request more: a short measurement must not come out too low.
  const measured = ((acceptedWhileBusy + 1) * 1_000) / Math.max(1, nowMs - busySinceMs);
  const isMeasured = accepted > 0;
  const perSecond = isMeasured ? usedPart * Math.min(sentPerSecond, measured) : sentPerSecond / 2;
  return {
    perSecond: Math.max(leastPerSecond, perSecond),
    isMeasured,
    accepted: 0,
    busySinceMs: measureFrom(nowMs, resumeMs),
    acceptedWhileBusy: 0,
  };
}
