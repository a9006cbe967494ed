/** Powers of ten of the decimal suffixes. */
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Powers of 1024 of the binary suffixes. */
const binary: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };

/** Sign, digits before and after the point, and suffix or exponent. */
const form = /^([+-]?)(\d*)\.?(\d*)(?:([KMGTPE]i|[numkMGTPE]?)|[eE]([+-]?\d{1,2}))$/;

/** Longer texts than any amount needs are rejected: the value is computed digit by digit. */
const maxLength = 64;

/** Quantities are exact to a billionth; what is finer is rounded away from zero, as Kubernetes does. */
const nanoDigits = 9;

/** `value / 10 ** digits`, rounded away from zero. */
function divideByPowerOfTen(value: bigint, digits: number): bigint {
  const divisor = 10n ** BigInt(digits);
  const rest = value % divisor;
  return value / divisor + (rest === 0n ? 0n : rest > 0n ? 1n : -1n);
}

/**
 * The amount of a Kubernetes quantity such as `500m`, `2`, `1.5Gi` or `1e3`, in billionths, so that it is exact; `undefined` for a text that is
 * none. Source: apimachinery, resource.Quantity.
 */
export function quantityInNanos(quantity: number | string): bigint | undefined {
  const text = String(quantity);
  const [, sign, whole = "", fraction = "", suffix = "", exponent] =
    (text.length <= maxLength && form.exec(text)) || [];
  if (whole === "" && fraction === "") return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === "-" ? -1n : 1n);
  const scaled = digits * 1024n ** BigInt(binary[suffix] ?? 0);
  const power = (exponent === undefined ? (decimal[suffix] ?? 0) : Number(exponent)) - fraction.length + nanoDigits;
  return power >= 0 ? scaled * 10n ** BigInt(power) : divideByPowerOfTen(scaled, -power);
}

/** Whether two quantities are the same amount: `1Gi` and `1073741824` are. Texts that are no quantities are the same when they are equal. */
export function isSameQuantity(a: number | string, b: number | string): boolean {
  const first = quantityInNanos(a);
  return first === undefined ? String(a) === String(b) : first === quantityInNanos(b);
}
