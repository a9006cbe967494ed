import { createSlices, type SliceOptions } from "@millwright/kube";
import type { Registry } from "prom-client";

/** A text in Prometheus' format, in parts that end with whole lines. Between them the event loop may run. */
export type MetricParts = AsyncIterable<string>;

/** From this length on pieces are passed on, characters: large enough that a part costs little, small enough that encoding it takes no time to speak of. */
const PART = 64 * 1024;

/** Joins pieces, each of whole lines, to parts; pauses whenever a slice is over. */
export async function* joinPieces(pieces: Iterable<string>, slicing: SliceOptions): AsyncGenerator<string> {
  const slices = createSlices(slicing);
  let part = "";
  for (const piece of pieces) {
    part += piece;
    if (part.length >= PART) {
      yield part;
      part = "";
    }
    const pause = slices.pauseIfDue();
    if (pause !== undefined) await pause;
  }
  if (part !== "") yield part;
}

/** The metrics of a registry, one by one: the event loop gets its turn after each that takes long. */
export async function* readRegistry(
  registry: Pick<Registry, "getMetricsAsArray" | "getSingleMetricAsString">,
  slicing: SliceOptions,
): AsyncGenerator<string> {
  const { clock, sliceMs = 5 } = slicing;
  let startMs = clock.monotonicMs();
  for (const { name } of registry.getMetricsAsArray()) {
    yield `${await registry.getSingleMetricAsString(name)}\n`;
    if (clock.monotonicMs() - startMs < sliceMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    startMs = clock.monotonicMs();
  }
}

/** All of it as one text. */
export async function textOfParts(parts: MetricParts): Promise<string> {
  const all: string[] = [];
  for await (const part of parts) all.push(part);
  return all.join("");
}
