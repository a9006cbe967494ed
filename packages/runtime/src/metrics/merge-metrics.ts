/** One metric in Prometheus' text format. */
interface Family {
  /** The lines with help and type, of the first namespace that has the metric. */
  readonly comments: readonly string[];
  readonly samples: string[];
}

const hasNamespace = /[{,]namespace="/;

/** Adds the label `namespace` to a sample that has none. */
function labelled(sample: string, namespace: string): string {
  if (hasNamespace.test(sample)) return sample;
  const [, name = "", labels, value = ""] = /^([^\s{]+)(?:\{(.*)\})?(\s.*)$/.exec(sample) ?? [];
  const others = labels === undefined || labels === "" ? "" : `,${labels}`;
  return `${name}{namespace="${namespace}"${others}}${value}`;
}

/** Splits a text into its metrics, by name. Samples follow the comments of their metric. */
function* familiesOf(text: string): Generator<readonly [string, Family]> {
  let name = "";
  let comments: string[] = [];
  let samples: string[] = [];
  for (const line of text.split("\n")) {
    const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
    if (comment !== undefined && comment !== name) {
      if (name !== "") yield [name, { comments, samples }];
      [name, comments, samples] = [comment, [], []];
    }
    if (comment !== undefined) comments.push(line);
    else if (line !== "") samples.push(line);
  }
  if (name !== "") yield [name, { comments, samples }];
}

/**
 * Merges the metrics of the managers of several namespaces, in Prometheus' text format. Each metric appears once, and each sample has the label
 * `namespace`.
 *
 * @param texts by namespace
 */
export function mergeMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, Family>();
  for (const [namespace, text] of texts) {
    for (const [name, { comments, samples }] of familiesOf(text)) {
      const family = families.get(name) ?? { comments, samples: [] };
      families.set(name, family);
      for (const sample of samples) family.samples.push(labelled(sample, namespace));
    }
  }
  return [...families.values()].map(({ comments, samples }) => `${[...comments, ...samples].join("\n")}\n`).join("\n");
}
