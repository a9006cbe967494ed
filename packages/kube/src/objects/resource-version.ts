/**
 * Compares two resource versions of one server: negative when `a` is older, positive when it is newer, 0 when they are
 * the same. They are decimal numbers of any size (Kubernetes 1.35, KEP-5504 "comparable resource versions").
 *
 * @returns undefined when either is not such a number and they cannot be compared
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined || !isDecimal(a) || !isDecimal(b)) return undefined;
  // Longer is larger once leading zeros are gone, and digits sort as text: no BigInt for each event of a watch.
  const left = a.replace(/^0+/, "");
  const right = b.replace(/^0+/, "");
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether `a` is known to be newer than `b`. */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order > 0;
}

function isDecimal(text: string): boolean {
  return /^\d+$/.test(text);
}
