import { GceRefusal } from "./refusal.ts";

const termPattern = /^\s*\(?\s*([A-Za-z][\w.-]*)\s*(=|!=|eq|ne)\s*(?:"([^"]*)"|([^\s()]+))\s*\)?\s*(?:AND\s+)?/;

/**
 * Reads a filter of a list: comparisons of texts, all of which have to hold. Compute Engine knows much more; what is not known here is refused.
 *
 * @throws GceRefusal
 */
export function readFilter(text: string): (fieldOf: (name: string) => string | undefined) => boolean {
  const terms: { readonly field: string; readonly isEqual: boolean; readonly value: string }[] = [];
  for (let rest = text; rest.trim() !== "";) {
    const match = termPattern.exec(rest);
    if (match === null)
      throw new GceRefusal("invalid", `Invalid value for field 'filter': '${text}'. Invalid list filter expression.`);
    terms.push({
      field: match[1] ?? "",
      isEqual: match[2] === "=" || match[2] === "eq",
      value: match[3] ?? match[4] ?? "",
    });
    rest = rest.slice(match[0].length);
  }
  return (fieldOf) => terms.every(({ field, isEqual, value }) => (fieldOf(field) === value) === isEqual);
}

/** The fields of something with a name and labels that filters may ask for. */
export const labelledFields =
  ({ name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> }) =>
  (field: string): string | undefined =>
    field === "name" ? name : field.startsWith("labels.") ? labels[field.slice("labels.".length)] : undefined;
