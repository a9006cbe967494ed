import { shapeProblemsOf } from "@millwright/controllers";
import type { ObjectMeta } from "@millwright/core/machine-api";
import type { Informer } from "@millwright/kube";
import { createLabelTexts, labelText } from "./label-text.ts";

/** What is measured has a name and mostly a namespace. */
interface NamedObject {
  readonly metadata: ObjectMeta;
}

/** One value of a gauge about one object. */
export interface Sample {
  readonly value: number;
  /** Values of the labels that the gauge declares, in their order; a missing one is the empty text. */
  readonly labels?: readonly (string | undefined)[];
}

/** A gauge about each object of a kind. */
export interface ObjectGauge<T> {
  readonly name: string;
  /** What its value means, one sentence for people, on one line. */
  readonly help: string;
  /** Labels besides `name` and `namespace`, which every one has. */
  readonly labels?: readonly string[];
  /** Its values for one object; none where the object has none. Of two with the same labels the later counts. Only the first 1,000 are shown. */
  samples(object: T): readonly Sample[];
}

/** The gauges of one kind of objects. */
export interface ObjectMetrics<T> {
  readonly cache: Pick<Informer<T & NamedObject>, "hasSynced"> & {
    readonly store: Pick<Informer<T & NamedObject>["store"], "list">;
  };
  /** The gauge of how many there are. */
  readonly items: { readonly name: string; readonly help: string };
  readonly gauges: readonly ObjectGauge<T>[];
  /** Called for each object that cannot be read, or not by one of the gauges; only that object, or that gauge of it, is left out. */
  readonly onFailure: () => void;
}

/** Maximum number of values of a list in a status. */
const maxSamples = 1_000;

/**
 * Writes gauges about all objects of a cache, and one of how many there are, in Prometheus' text format. Nothing is kept between two readings, so what was
 * deleted is not there any more, and an idle process spends nothing on them. All are of the moment of the first step; there is a step for each object and
 * gauge, so that the caller may pause in between: the library that writes the other metrics writes all of a gauge in one go, a third of a second for the
 * gauges of 10,000 machines. Before the cache has its first list there are none: 0 would mean that everything was deleted.
 *
 * @returns pieces of the text, which may be empty
 */
export function* writeObjectMetrics<T extends NamedObject>({
  cache,
  items,
  gauges,
  onFailure,
}: ObjectMetrics<T>): Generator<string> {
  if (!cache.hasSynced()) return;
  const all = cache.store.list();
  yield `${heading(items)}${items.name} ${all.length}\n`;
  const readable: { readonly object: T; readonly identity: string }[] = [];
  for (const object of all) {
    // What stands for an object that cannot be read has an empty spec: its zeros would be lies.
    if (shapeProblemsOf(object).length > 0) onFailure();
    else readable.push({ object, identity: identityOf(object) });
    yield "";
  }
  for (const gauge of gauges) {
    yield heading(gauge);
    const lines = createLines(gauge, onFailure);
    for (const { object, identity } of readable) yield lines(object, identity);
  }
}

const heading = ({ name, help }: { readonly name: string; readonly help: string }): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;

const identityOf = ({ metadata: { name, namespace = "" } }: NamedObject): string =>
  `${labelText("name", name)},${labelText("namespace", namespace)}`;

/** Writes the lines of one gauge, object by object: 10,000 machines have 100,000, which is why the common case allocates little. */
function createLines<T>({ name, labels: names = [], samples }: ObjectGauge<T>, onFailure: () => void) {
  const texts = names.map((label) => createLabelTexts(label));
  const textOf = (labels: Sample["labels"] = []): string => {
    let text = "";
    for (const [at, textOfLabel] of texts.entries()) text += `,${textOfLabel(labels[at] ?? "")}`;
    return text;
  };
  return (object: T, identity: string): string => {
    const start = `${name}{${identity}`;
    try {
      const all = samples(object);
      for (const { value } of all) if (!Number.isFinite(value)) throw new TypeError(`${name} is not a number`);
      if (all.length === 1) return all.map(({ value, labels }) => `${start}${textOf(labels)}} ${value}\n`).join("");
      /** Values by labels: a series that comes twice makes Prometheus reject everything that was read. */
      const values = new Map<string, number>();
      for (const { value, labels } of all.slice(0, maxSamples)) values.set(textOf(labels), value);
      let lines = "";
      for (const [labels, value] of values) lines += `${start}${labels}} ${value}\n`;
      return lines;
    } catch {
      onFailure();
      return "";
    }
  };
}
