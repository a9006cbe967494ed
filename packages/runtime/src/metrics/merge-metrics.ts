import { createSlices, type SliceOptions } from "@millwright/kube";
import { joinPieces, type MetricParts } from "./metric-parts.ts";

/** One metric in Prometheus' text format. */
interface Family {
  /** The lines with help and type, of the first namespace that has the metric. */
  readonly comments: string[];
  readonly samples: string[];
}

const hasNamespace = /[{,]namespace="/;

/** Adds the label `namespace` to a sample that has none. */
function labeled(sample: string, namespace: string): string {
  if (hasNamespace.test(sample)) return sample;
  const [, name = "", labels, value = ""] = /^([^\s{]+)(?:\{(.*)\})?(\s.*)$/.exec(sample) ?? [];
  const others = labels === undefined || labels === "" ? "" : `,${labels}`;
  return `${name}{namespace="${namespace}"${others}}${value}`;
}

/** Adds the samples of one namespace, line by line, to the metrics that they belong to: samples follow the comments of their metric. */
function createCollector(families: Map<string, Family>, namespace: string): (line: string) => void {
  let name = "";
  let isNew = false;
  return (line) => {
    const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
    if (comment !== undefined && comment !== name) {
      name = comment;
      isNew = !families.has(name);
      if (isNew) families.set(name, { comments: [], samples: [] });
    }
    const family = families.get(name);
    if (comment !== undefined && isNew) family?.comments.push(line);
    else if (comment === undefined && line !== "") family?.samples.push(labeled(line, namespace));
  };
}

/**
 * Merges the metrics of the managers of several namespaces, in Prometheus' text format. Each metric appears once, and each sample has the label
 * `namespace`. The event loop gets its turn after each slice.
 *
 * @param parts by namespace
 */
export async function* mergeMetrics(
  parts: ReadonlyMap<string, MetricParts>,
  slicing: SliceOptions,
): AsyncGenerator<string> {
  const families = new Map<string, Family>();
  const slices = createSlices(slicing);
  for (const [namespace, ofNamespace] of parts) {
    const collect = createCollector(families, namespace);
    for await (const part of ofNamespace) {
      for (const line of part.split("\n")) {
        collect(line);
        const pause = slices.pauseIfDue();
        if (pause !== undefined) await pause;
      }
    }
  }
  yield* joinPieces(linesOf(families.values()), slicing);
}

function* linesOf(families: Iterable<Family>): Generator<string> {
  for (const { comments, samples } of families) {
    for (const line of comments) yield `${line}\n`;
    for (const line of samples) yield `${line}\n`;
  }
}
