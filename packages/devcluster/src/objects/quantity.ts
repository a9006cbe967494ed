const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

/** Kubernetes' error for an invalid quantity. */
export const quantityRule =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * The canonical form of a `resource.Quantity`: no fraction, the largest suffix of its family that allows it (`0.5` is `500m`,
 * `1024Mi` is `1Gi`). Undefined for an invalid one.
 */
export function canonicalQuantity(text: string): string | undefined {
  const nanos = quantityInNanos(text);
  if (nanos === undefined) return undefined;
  const [, , , , suffix = "", exponent] = pattern.exec(text) ?? [];
  const amount = nanos < 0n ? -nanos : nanos;
  return (text.startsWith("-") ? "-" : "") + inFamily(amount, suffix, exponent !== undefined);
}

function inFamily(nanos: bigint, suffix: string, hasExponent: boolean): string {
  if (nanos === 0n) return "0";
  if (suffix.endsWith("i") && nanos % 1_000_000_000n === 0n) {
    const [units, steps] = divided(nanos / 1_000_000_000n, 1024n, binarySuffixes.length - 1);
    return `${units}${binarySuffixes[steps] ?? ""}`;
  }
  if (hasExponent) {
    const [value, steps] = divided(nanos, 1000n, Number.POSITIVE_INFINITY);
    return steps === 3 ? String(value) : `${value}e${3 * steps - 9}`;
  }
  const [value, steps] = divided(nanos, 1000n, decimalSuffixes.length - 1);
  return `${value}${decimalSuffixes[steps] ?? ""}`;
}

/** A number divided as often as it allows, at most so many times. */
function divided(value: bigint, divisor: bigint, most: number): readonly [value: bigint, steps: number] {
  let rest = value;
  let steps = 0;
  while (steps < most && rest % divisor === 0n) {
    rest /= divisor;
    steps += 1;
  }
  return [rest, steps];
}

/** A quantity in billionths, rounded up; undefined for an invalid one. */
export function quantityInNanos(text: string): bigint | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", suffix = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const binary = binarySuffixes.findIndex((candidate) => candidate === suffix);
  const digits = BigInt(`${whole}${fraction}`);
  const decimalPower = 3 * (decimalSuffixes.findIndex((candidate) => candidate === suffix) - 3);
  const power = binary > 0 ? 0 : exponent === undefined ? decimalPower : Number(exponent);
  const scaled = digits * 1024n ** BigInt(Math.max(0, binary)) * 10n ** BigInt(Math.max(0, power));
  const nanos = nano(scaled, fraction.length + Math.max(0, -power));
  return sign === "-" ? -nanos : nanos;
}

/** A number with `places` decimals in billionths, rounded up as Kubernetes does. */
function nano(digits: bigint, places: number): bigint {
  if (places <= 9) return digits * 10n ** BigInt(9 - places);
  const divisor = 10n ** BigInt(places - 9);
  return (digits + divisor - 1n) / divisor;
}
