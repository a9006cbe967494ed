import type { Buckets } from "./quantile.ts";

/** One series of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)/;
const label = /(?<key>[a-zA-Z_]\w*)="(?<text>(?:[^"\\]|\\.)*)"/g;

const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));

function numberOf(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}

/** Reads Prometheus' text format; comments and lines that are not series are skipped. */
export function parseMetrics(text: string): readonly Sample[] {
  return text.split("\n").flatMap((each) => {
    const { name, labels = "", value } = line.exec(each)?.groups ?? {};
    if (name === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(label)].map(({ groups }) => [
      groups?.["key"] ?? "",
      unescaped(groups?.["text"] ?? ""),
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }];
  });
}

/** The sum of a metric's series by the value of a label. */
export function sumBy(samples: readonly Sample[], name: string, key: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const sample of samples) {
    if (sample.name !== name) continue;
    const group = sample.labels[key] ?? "";
    sums.set(group, (sums.get(group) ?? 0) + sample.value);
  }
  return sums;
}

/** The buckets of a histogram by the value of a label, series with other labels added up. */
export function bucketsBy(samples: readonly Sample[], name: string, key: string): ReadonlyMap<string, Buckets> {
  const found = new Map<string, Map<number, number>>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    const group = sample.labels[key] ?? "";
    const buckets = found.get(group) ?? new Map<number, number>();
    const bound = numberOf(sample.labels["le"] ?? "+Inf");
    found.set(group, buckets.set(bound, (buckets.get(bound) ?? 0) + sample.value));
  }
  return new Map([...found].map(([group, buckets]) => [group, [...buckets].toSorted(([a], [b]) => a - b)]));
}
