/** A part of a row: what is the case from one time to another. */
export interface Bar {
  readonly label: string;
  /** Seconds since the beginning of the timeline. */
  readonly from: number;
  readonly to: number;
}

/** What happens with one object. */
export interface TimelineRow {
  readonly name: string;
  readonly bars: readonly Bar[];
}

/** Records for each object since when it has its present label. */
export function createTimeline(now: () => number) {
  const rows = new Map<string, { readonly label: string; readonly from: number; readonly to?: number }[]>();
  return {
    /** The label of an object from now on; none ends it. */
    set(name: string, label: string | undefined): void {
      const bars = rows.get(name) ?? [];
      const last = bars.at(-1);
      if (last?.label === label && last?.to === undefined) return;
      if (last !== undefined && last.to === undefined) bars[bars.length - 1] = { ...last, to: now() };
      if (label !== undefined) bars.push({ label, from: now() });
      if (bars.length > 0) rows.set(name, bars);
    },
    /** The part between two times, from the start of each row, counted from the first one. */
    cut(from: number, to: number): readonly TimelineRow[] {
      const within = (bars: readonly { readonly label: string; readonly from: number; readonly to?: number }[]) =>
        bars
          .map((bar) => ({ ...bar, from: Math.max(bar.from, from), to: Math.min(bar.to ?? to, to) }))
          .filter((bar) => bar.to > bar.from)
          .map((bar): Bar => ({ label: bar.label, from: bar.from - from, to: bar.to - from }));
      return [...rows]
        .map(([name, bars]) => ({ name, bars: within(bars) }))
        .filter(({ bars }) => bars.length > 0)
        .toSorted((a, b) => (a.bars[0]?.from ?? 0) - (b.bars[0]?.from ?? 0));
    },
  };
}
