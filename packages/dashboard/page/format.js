/**
 * A duration in its largest suitable unit.
 *
 * @param {number} ms
 */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/**
 * How long ago a time was; empty when it is unknown.
 *
 * @param {string | undefined} time RFC 3339
 * @param {number} nowMs
 */
export function ago(time, nowMs) {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? "" : duration(nowMs - ms);
}
