/** Nanoseconds of each unit of Go's duration text. Both signs of micro are read, as in Go. */
const unitNanos: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["\u00b5s", 1000n],
  ["\u03bcs", 1000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

const part = /(?:(\d+)\.?(\d*)|\.(\d+))(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** Go keeps a duration in 64 bits of nanoseconds: about 292 years. */
const longestNanos = 2n ** 63n;
const longestMs = Number(longestNanos) / 1e6;

/** Maximum length of a duration; no realistic duration is longer. */
const longestText = 100;

/**
 * Reads a duration in Go's text form, such as `1h30m`, `90s`, `1.5h`, `-2m` or `0`. Returns milliseconds, with a fraction
 * below one millisecond; undefined when Go's time.ParseDuration would reject the text (no unit, blanks, out of range).
 *
 * @example
 * parseGoDuration("1h30m"); // 5400000
 * parseGoDuration("90"); // undefined: a unit is missing
 */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > longestText) return undefined;
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0;
  const nanos = nanosOf(body);
  if (nanos === undefined || nanos >= longestNanos) return undefined;
  const ms = Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6;
  return negative && ms !== 0 ? -ms : ms;
}

/** The sum of the parts of a duration without sign; undefined when a part cannot be read, or there is none. */
function nanosOf(body: string): bigint | undefined {
  if (body === "") return undefined;
  let nanos = 0n;
  part.lastIndex = 0;
  while (part.lastIndex < body.length) {
    const [, whole = "", fraction = "", onlyFraction = fraction, unit = ""] = part.exec(body) ?? [];
    const scale = unitNanos.get(unit);
    if (scale === undefined) return undefined;
    const digits = 10n ** BigInt(onlyFraction.length);
    nanos += BigInt(whole) * scale + (BigInt(onlyFraction) * scale) / digits;
  }
  return nanos;
}

/**
 * Writes milliseconds in the form of Go's Duration.String: `0s`, `1.5s`, `20m0s`, `1h0m0s`, `350ms`. Fractions are kept to
 * the nanosecond. Throws a RangeError for a number that is not finite or too long for a Go duration.
 */
export function formatGoDuration(ms: number): string {
  if (!Number.isFinite(ms) || Math.abs(ms) >= longestMs) throw new RangeError(`${ms} ms is not a duration`);
  const sign = ms < 0 ? "-" : "";
  const { wholeMs, nanos } = split(Math.abs(ms));
  if (wholeMs === 0 && nanos === 0) return "0s";
  if (wholeMs < 1000) return sign + subSecond(wholeMs, nanos);
  const wholeSeconds = Math.floor(wholeMs / 1000);
  const seconds = decimal(wholeSeconds % 60, (wholeMs % 1000) * 1_000_000 + nanos, 9);
  const minutes = Math.floor(wholeSeconds / 60) % 60;
  const hours = Math.floor(wholeSeconds / 3600);
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

/** Whole milliseconds and the nanoseconds below them, carried over when rounding fills a millisecond. */
function split(ms: number): { wholeMs: number; nanos: number } {
  const wholeMs = Math.floor(ms);
  const nanos = Math.round((ms - wholeMs) * 1e6);
  return nanos === 1_000_000 ? { wholeMs: wholeMs + 1, nanos: 0 } : { wholeMs, nanos };
}

function subSecond(wholeMs: number, nanos: number): string {
  if (wholeMs > 0) return `${decimal(wholeMs, nanos, 6)}ms`;
  return nanos >= 1000 ? `${decimal(Math.floor(nanos / 1000), nanos % 1000, 3)}\u00b5s` : `${nanos}ns`;
}

function decimal(whole: number, fraction: number, digits: number): string {
  if (fraction === 0) return String(whole);
  return `${whole}.${String(fraction).padStart(digits, "0").replace(/0+$/, "")}`;
}
