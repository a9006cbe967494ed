/** Labels of series that come one by one and are not computed from objects. */
export interface LabelSets<L> {
  /** Notes that the series with these labels has a value. */
  use(labels: L): void;
  /** Labels that are to be forgotten: the last use is older than the time to keep, and nobody needs them any more. */
  takeOver(isNeeded: (labels: L) => boolean): readonly L[];
}

/** Remembers which labels are in use, so that series of what is long gone do not stay for ever. */
export function createLabelSets<L extends Readonly<Record<string, string>>>(
  monotonicMs: () => number,
  keepMs: number,
): LabelSets<L> {
  const known = new Map<string, { readonly labels: L; readonly usedAt: number }>();
  return {
    use(labels) {
      known.set(JSON.stringify(labels), { labels, usedAt: monotonicMs() });
    },
    takeOver(isNeeded) {
      const over = [...known].filter(([, { labels, usedAt }]) => monotonicMs() - usedAt >= keepMs && !isNeeded(labels));
      for (const [key] of over) known.delete(key);
      return over.map(([, { labels }]) => labels);
    },
  };
}
