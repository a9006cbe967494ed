function inUnits(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** How long ago a time was, in a suitable unit. */
export function ago(time: string | undefined, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time ?? "")) / 1000));
  return Number.isNaN(seconds) ? "" : inUnits(seconds);
}

/** How far ahead a time is: `in 5m`, or `now` when it has passed. */
export function ahead(time: string, now: Date): string {
  const seconds = Math.ceil((Date.parse(time) - now.getTime()) / 1000);
  return seconds > 0 ? `in ${inUnits(seconds)}` : "now";
}
