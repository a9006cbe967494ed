import { isRecord, toPrintable } from "@millwright/base";

/** Characters of a text in a row. */
export const MAX_ROW_TEXT = 300;

/** Characters of a text in a report. */
const MAX_REPORT_TEXT = 4_000;

/** Items of a list or entries of an object in a report. */
const MAX_ENTRIES = 500;

/** How deep a report may be nested. */
const MAX_DEPTH = 30;

/**
 * A text of an object as it may be shown: characters that are not seen, or that change the order of others, are replaced, and the text is cut.
 *
 * @param max characters; what is cut is counted at the end
 */
export function cleanText(text: string, max: number): string {
  // Cut first: of a megabyte, only what is shown is searched.
  const kept = text.length > max ? text.slice(0, max) : text;
  const printable = toPrintable(kept);
  return text.length > max ? `${printable}… (${text.length - max} more characters)` : printable;
}

/** A report or object with every text in it cleaned, the keys of objects included. */
export function cleanValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return cleanText(value, MAX_REPORT_TEXT);
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ENTRIES).map((item) => cleanValue(item, depth + 1));
    return value.length > MAX_ENTRIES ? [...items, `… (${value.length - MAX_ENTRIES} more)`] : items;
  }
  return isRecord(value) ? cleanRecord(value, depth) : value;
}

/** As {@link cleanValue}, of an object. */
export function cleanRecord(record: object, depth = 0): Record<string, unknown> {
  const entries = Object.entries(record).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([key, item]) => [cleanText(key, MAX_ROW_TEXT), cleanValue(item, depth + 1)]));
}
