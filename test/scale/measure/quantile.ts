/** The value below which a share of some numbers is, the nearest one of them; undefined without numbers. */
export function quantileOf(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

/** Upper bounds of the buckets of a histogram and how many observations are at or below each, ascending; the last bound is infinite. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** Observations between two readings of a histogram. */
export function bucketsBetween(before: Buckets, after: Buckets): Buckets {
  const earlier = new Map(before);
  return after.map(([bound, count]) => [bound, count - (earlier.get(bound) ?? 0)]);
}

/**
 * A quantile of a histogram as Prometheus' `histogram_quantile` computes it: linear within a bucket; the highest finite bound for the last one.
 * Undefined without observations.
 */
export function histogramQuantile(buckets: Buckets, share: number): number | undefined {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  const rank = share * total;
  let lower: readonly [number, number] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= rank && count > lower[1]) {
      if (!Number.isFinite(bound)) return lower[0];
      return lower[0] + ((bound - lower[0]) * (rank - lower[1])) / (count - lower[1]);
    }
    lower = [bound, count];
  }
  return lower[0];
}
