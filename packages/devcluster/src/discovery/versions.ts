const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Orders API versions by Kubernetes' preference: GA before beta before alpha, higher numbers first, then all others in
 * alphabetical order.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  for (let index = 0; index < left.length; index += 1) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function rank(version: string): readonly number[] | undefined {
  const match = pattern.exec(version);
  if (match === null) return undefined;
  const [, major, stage, minor] = match;
  const stability = stage === undefined ? 2 : stage === "beta" ? 1 : 0;
  return [stability, Number(major), Number(minor ?? 0)];
}
