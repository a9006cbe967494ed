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
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", suffix = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const binary = binarySuffixes.findIndex((candidate) => candidate === suffix);
  const negative = sign === "-" ? "-" : "";
  const digits = BigInt(`${whole}${fraction}`);
  if (binary > 0) {
    const scaled = digits * 1024n ** BigInt(binary);
    const units = scaled / 10n ** BigInt(fraction.length);
    return (
      negative +
      (units * 10n ** BigInt(fraction.length) === scaled
        ? inBinary(units)
        : decimal(nano(digits * 1024n ** BigInt(binary), fraction.length)))
    );
  }
  const power =
    exponent === undefined
      ? 3 * (decimalSuffixes.findIndex((candidate) => candidate === suffix) - 3)
      : Number(exponent);
  const nanos =
    power >= 0 ? nano(digits * 10n ** BigInt(power), fraction.length) : nano(digits, fraction.length - power);
  return negative + (exponent === undefined ? decimal(nanos) : withExponent(nanos));
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

function decimal(nanos: bigint): string {
  if (nanos === 0n) return "0";
  let value = nanos;
  let index = 0;
  while (index < decimalSuffixes.length - 1 && value % 1000n === 0n) {
    value /= 1000n;
    index += 1;
  }
  return `${value}${decimalSuffixes[index] ?? ""}`;
}

function withExponent(nanos: bigint): string {
  if (nanos === 0n) return "0";
  let value = nanos;
  let power = -9;
  while (value % 1000n === 0n) {
    value /= 1000n;
    power += 3;
  }
  return power === 0 ? String(value) : `${value}e${power}`;
}

function inBinary(units: bigint): string {
  let value = units;
  let index = 0;
  while (value !== 0n && index < binarySuffixes.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    index += 1;
  }
  return `${value}${binarySuffixes[index] ?? ""}`;
}
