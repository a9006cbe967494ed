/** Headers of an answer. */
interface Headers {
  get(name: string): string | undefined;
}

/** Those that give milliseconds, in the order in which the SDK looks at them. */
const inMilliseconds = ["retry-after-ms", "x-ms-retry-after-ms"] as const;

/** The delay that a response requests, milliseconds: from the headers that the SDK would follow without limit. Undefined without them. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  for (const name of inMilliseconds) {
    const value = headers.get(name) ?? "";
    if (/^\d{1,12}$/.test(value)) return Number(value);
  }
  const value = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
