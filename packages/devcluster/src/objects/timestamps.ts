/** A time as `metav1.MicroTime` is written: exactly six fraction digits, as Leases and Events require. */
export function rfc3339Micro(time: Date): string {
  return `${time.toISOString().slice(0, 23)}000Z`;
}

/**
 * A duration as kubectl shows ages: `45s`, `3m12s`, `25m`, `5h3m`, `2d4h`, `12d`, `2y30d`. A duration more than two seconds
 * below zero is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return pair(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < 24 * 365 * 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

/** The age of an RFC 3339 time; `<unknown>` when it is missing, `<invalid>` when it cannot be parsed. */
export function ageText(timestamp: unknown, now: Date): string {
  if (typeof timestamp !== "string" || timestamp === "") return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<invalid>" : humanDuration(now.getTime() - then);
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
