import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Values by labels; those with the same labels are added up. */
type Values<L extends string> = Iterable<readonly [labels: Readonly<Record<L, string>>, value: number]>;

/** Registers metrics. What {@link read} returns at a scrape is all that the metric has then; without it, or when it returns nothing, values stay as they were set. */
export interface MetricRegistration {
  gauge<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read?: () => Values<L> | undefined,
  ): Gauge<L>;
  counter<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read?: () => Values<L> | undefined,
  ): Counter<L>;
  histogram<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
}

/** Registers the metrics of a table of rows: name, help, labels, and where the values come from. */
export function registerIn(registry: Registry): MetricRegistration {
  const registers = [registry];
  const refill = <L extends string>(metric: Pick<Gauge<L> | Counter<L>, "reset" | "inc">, values?: Values<L>): void => {
    if (values === undefined) return;
    metric.reset();
    for (const [labels, value] of values) metric.inc(labels, value);
  };
  return {
    gauge: (name, help, labelNames, read) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          refill(this, read?.());
        },
      }),
    counter: (name, help, labelNames, read) =>
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          refill(this, read?.());
        },
      }),
    histogram: (name, help, labelNames, buckets) =>
      new Histogram({ name, help, labelNames, buckets: [...buckets], registers }),
  };
}
