import { GceRefusal } from "./refusal.ts";

const comparison = /^\s*(\(?)\s*([A-Za-z][\w.-]*)\s*(!?=)\s*(?:"([^"]*)"|([^\s()"]+))\s*(\)?)\s*(?:(AND|OR)\b(?=.)|)/s;

interface Comparison {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * Reads a filter of a list: comparisons of texts, joined by `AND`, by `OR`, which binds tighter (AIP-160), or by nothing, which means `AND`. Compute Engine supports more; the rest
 * is rejected here.
 *
 * @throws GceRefusal
 */
export function readFilter(text: string): (fieldOf: (name: string) => string | undefined) => boolean {
  const groups: Comparison[][] = [];
  let isOr = false;
  for (let rest = text; isOr || rest.trim() !== "";) {
    const match = comparison.exec(rest);
    if (match === null || (match[1] === "") !== (match[6] === "")) {
      throw new GceRefusal("invalid", `Invalid value for field 'filter': '${text}'. Invalid list filter expression.`);
    }
    const one = { field: match[2] ?? "", isEqual: match[3] === "=", value: match[4] ?? match[5] ?? "" };
    if (isOr) groups.at(-1)?.push(one);
    else groups.push([one]);
    isOr = match[7] === "OR";
    rest = rest.slice(match[0].length);
  }
  return (fieldOf) =>
    groups.every((group) => group.some(({ field, isEqual, value }) => (fieldOf(field) === value) === isEqual));
}

/** The filterable fields of a resource with a name and labels. */
export const labeledFields =
  ({ name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> }) =>
  (field: string): string | undefined =>
    field === "name" ? name : field.startsWith("labels.") ? labels[field.slice("labels.".length)] : undefined;
