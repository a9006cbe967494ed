import { isMap, isScalar, parseDocument, stringify } from "yaml";

/** A value of a Helm chart that users can set. */
export interface ChartValue {
  /** Path with dots. */
  readonly key: string;
  /** YAML on one line. */
  readonly preset: string;
  /** The comment before it. */
  readonly meaning: string;
}

const commentOf = (node: unknown): string =>
  String(Object(node).commentBefore ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();

/** The values of a chart, in the order of its `values.yaml`. A map with a comment is one value; the entries of others are values themselves. */
export function chartValues(text: string): readonly ChartValue[] {
  const document = parseDocument(text);
  // The parser gives the comment before the first entry of a map to the map, and that of the first one of all to the document.
  const walk = (map: unknown, path: string, first: string): readonly ChartValue[] =>
    isMap(map)
      ? map.items.flatMap(({ key, value }, index) => {
          const name = `${path}${String(isScalar(key) ? key.value : key)}`;
          const meaning = commentOf(key) || (index === 0 ? first : "");
          if (meaning === "" && isMap(value)) return walk(value, `${name}.`, commentOf(value));
          const preset = stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim();
          return [{ key: name, preset, meaning }];
        })
      : [];
  return walk(document.contents, "", (document.commentBefore ?? "").trim());
}
