/** Labels of series that come one by one and are not computed from objects. */
export interface LabelSets<L> {
  /** Notes that the series with these labels has a value. */
  use(labels: L): void;
  /** Removes expired label sets: the last use is older than the retention time, and none is needed any more. */
  forget(): undefined;
}

/** Options of {@link createLabelSets}. */
export interface LabelSetsOptions<L> {
  readonly monotonicMs: () => number;
  /** How long series of what is gone are kept, milliseconds. */
  readonly keepMs: number;
  /** Maximum number of known sets; beyond it the least recently used one is forgotten, even if it is needed. */
  readonly most: number;
  readonly isNeeded: (labels: L) => boolean;
  readonly onForget: (labels: L) => void;
}

/** Tracks the labels in use, so that series of deleted objects are removed, and the number of series is bounded. */
export function createLabelSets<L extends Readonly<Record<string, string>>>({
  monotonicMs,
  keepMs,
  most,
  isNeeded,
  onForget,
}: LabelSetsOptions<L>): LabelSets<L> {
  // The least lately used first.
  const known = new Map<string, { readonly labels: L; readonly usedAt: number }>();
  const forgetOne = (key: string, labels: L): void => {
    known.delete(key);
    onForget(labels);
  };
  return {
    use(labels) {
      const key = JSON.stringify(labels);
      known.delete(key);
      known.set(key, { labels, usedAt: monotonicMs() });
      for (const [oldest, entry] of known) {
        if (known.size <= most) return;
        forgetOne(oldest, entry.labels);
      }
    },
    forget() {
      for (const [key, { labels, usedAt }] of known) {
        if (monotonicMs() - usedAt < keepMs) return;
        if (!isNeeded(labels)) forgetOne(key, labels);
      }
    },
  };
}
