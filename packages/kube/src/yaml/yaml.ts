import { boolYaml11Tag, CORE_SCHEMA, dump, loadAll, mergeTag } from "js-yaml";

/** As the YAML of Kubernetes: with merge keys, and `yes` and `on` are booleans. */
const schema = CORE_SCHEMA.withTags(mergeTag, boolYaml11Tag);

/** Kubernetes objects are a few levels deep; their readers are recursive. */
export const MAX_DEPTH = 200;

/** How many values the aliases of a document may stand for: no reader may walk through more than there is memory for. */
const MAX_VALUES = 1_000_000;

/** How many values there are in a value if each alias is replaced by what it stands for; Infinity for one that contains itself. */
function countValues(value: unknown, known: Map<object, number>): number {
  if (typeof value !== "object" || value === null) return 1;
  const found = known.get(value);
  if (found !== undefined) return found;
  known.set(value, Infinity);
  const count = Object.values(value).reduce((sum: number, each) => sum + countValues(each, known), 1);
  known.set(value, count);
  return count;
}

/**
 * Parses a text of one or many documents as plain values; an empty document is null or undefined.
 *
 * @param options `lastKeyCounts`: a key may occur twice in a mapping. Default false
 * @throws Error whose first line has the problem and its place
 */
export function parseYaml(
  text: string,
  { lastKeyCounts = false }: { readonly lastKeyCounts?: boolean } = {},
): readonly unknown[] {
  const documents = loadAll(text, { schema, json: lastKeyCounts, maxDepth: MAX_DEPTH });
  for (const document of documents)
    if (countValues(document, new Map()) > MAX_VALUES)
      throw new Error(`its aliases stand for more than ${MAX_VALUES} values`);
  return documents;
}

/**
 * A value as YAML, without aliases and line breaks in texts.
 *
 * @param options `isInline`: in one line, without its end. Default false
 */
export const toYaml = (value: unknown, { isInline = false }: { readonly isInline?: boolean } = {}): string =>
  dump(value, {
    noRefs: true,
    lineWidth: -1,
    quoteStyle: "double",
    ...(isInline ? { flowLevel: 0 } : {}),
  }).slice(0, isInline ? -1 : undefined);
