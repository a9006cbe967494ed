import type { ObjectMeta } from "@millwright/core";
import type { Informer } from "@millwright/kube";
import { Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from "prom-client";

/** What is measured has a name and mostly a namespace. */
interface NamedObject {
  readonly metadata: ObjectMeta;
}

/** One value of a gauge about one object. */
export interface Sample {
  readonly value: number;
  /** Values of the labels that the gauge declares; a missing one is the empty text. */
  readonly labels?: Readonly<Record<string, string | undefined>>;
}

/** A gauge about each object of a kind. */
export interface ObjectGauge<T> {
  readonly name: string;
  /** What its value means, one sentence for people. */
  readonly help: string;
  /** Labels besides `name` and `namespace`, which every one has. */
  readonly labels?: readonly string[];
  /** Its values for one object; none where the object says nothing about it. Two of the same labels are one, the later. */
  samples(object: T): readonly Sample[];
}

/** Labels hold what anybody may write into a status: what is longer than any name or provider id is cut. */
const longestLabel = 512;

/**
 * Adds gauges about all objects of a cache, and one of how many there are. Their values are computed when somebody reads them: nothing is kept
 * between two readings, so what was deleted is not there any more, and an idle process spends nothing on them. Before the cache has its first list
 * there are none: 0 would say that everything is gone.
 *
 * @param onFailure is told when an object cannot be measured, which costs that object only
 */
export function measureObjects<T extends NamedObject>(
  registry: Registry,
  {
    cache,
    items,
    gauges,
  }: {
    readonly cache: Pick<Informer<T>, "hasSynced"> & { readonly store: Pick<Informer<T>["store"], "list" | "size"> };
    /** The gauge of how many there are. */
    readonly items: { readonly name: string; readonly help: string };
    readonly gauges: readonly ObjectGauge<T>[];
  },
  onFailure: () => void,
): void {
  const add = (name: string, help: string, values: () => readonly MetricValue<string>[]): void =>
    registry.registerMetric(new ComputedGauge(name, help, () => (cache.hasSynced() ? values() : [])));
  add(items.name, items.help, () => [{ value: cache.store.size, labels: {} }]);
  for (const gauge of gauges)
    add(gauge.name, gauge.help, () => cache.store.list().flatMap((object) => valuesOf(gauge, object, onFailure)));
}

/** A gauge of the library that keeps nothing: the library's own table of series would stay in memory from one reading to the next. */
class ComputedGauge extends Gauge {
  readonly #values: () => readonly MetricValue<string>[];

  constructor(name: string, help: string, values: () => readonly MetricValue<string>[]) {
    super({ name, help, registers: [] });
    this.#values = values;
  }

  override async get(): Promise<MetricObjectWithValues<MetricValue<string>>> {
    return { ...(await super.get()), values: [...this.#values()] };
  }
}

function valuesOf<T extends NamedObject>(
  { labels: names = [], samples }: ObjectGauge<T>,
  object: T,
  onFailure: () => void,
): readonly MetricValue<string>[] {
  try {
    const values = samples(object).map((sample) => ({ value: sample.value, labels: labelsOf(object, names, sample) }));
    return values.length > 1 ? withoutRepetitions(values, names) : values;
  } catch {
    onFailure();
    return [];
  }
}

/** A series that comes twice makes Prometheus refuse everything that was read. */
const withoutRepetitions = (
  values: readonly MetricValue<string>[],
  names: readonly string[],
): readonly MetricValue<string>[] => [
  ...new Map(values.map((value) => [JSON.stringify(names.map((name) => value.labels[name])), value])).values(),
];

function labelsOf({ metadata }: NamedObject, names: readonly string[], sample: Sample): Record<string, string> {
  const labels: Record<string, string> = { name: metadata.name, namespace: metadata.namespace ?? "" };
  for (const name of names) labels[name] = (sample.labels?.[name] ?? "").slice(0, longestLabel);
  return labels;
}
