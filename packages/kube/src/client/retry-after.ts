/**
 * Reads a `Retry-After` header: seconds, or an HTTP date.
 *
 * @returns milliseconds from `now`, never negative; undefined when the header is missing or unreadable
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // An HTTP date names its day first; Date.parse would accept "-5" or "1.5" as dates.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** No `Retry-After` delays an attempt for longer, milliseconds: a proxy that asks for a day would stop an object for a day. */
const maxRetryAfterMs = 5 * 60_000;

/** `retryAfterMs` of an ApiError, a MachineError or whatever else carries one, at most five minutes; 0 without one. */
export function retryAfterOf(error: unknown): number {
  if (typeof error !== "object" || error === null || !("retryAfterMs" in error)) return 0;
  const { retryAfterMs } = error;
  return typeof retryAfterMs === "number" && retryAfterMs > 0 ? Math.min(retryAfterMs, maxRetryAfterMs) : 0;
}
