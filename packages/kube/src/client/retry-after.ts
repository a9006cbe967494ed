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
