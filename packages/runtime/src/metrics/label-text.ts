import { toPrintable } from "@millwright/base";

/** Labels contain texts of users: those longer than any name or provider id are truncated. */
const longestLabel = 512;

const isPlain = /^[ -~]*$/;
const special = /["\\]/;
const lineBreaks = /[\n\t]/g;

/**
 * The value of a label: a text of at most 512 characters on one line. Control characters, one of which (NUL) makes Prometheus reject everything that was read,
 * and halves of characters are shown as U+FFFD.
 */
export function labelValue(text: string): string {
  const cut = text.length > longestLabel ? text.slice(0, longestLabel) : text;
  return isPlain.test(cut) ? cut : toPrintable(cut.replace(lineBreaks, "\uFFFD"));
}

/** A label and its value as they stand between the braces of Prometheus' text format. */
export function labelText(name: string, value: string): string {
  const shown = labelValue(value);
  return `${name}="${special.test(shown) ? shown.replaceAll("\\", "\\\\").replaceAll('"', '\\"') : shown}"`;
}

/** How many texts {@link createLabelTexts} keeps, and how long the values of those are. */
const kept = { most: 256, length: 64 };

/** {@link labelText} for one label of many series: few values, such as types of conditions, make up most of them. */
export function createLabelTexts(name: string): (value: string) => string {
  const texts = new Map<string, string>();
  return (value) => {
    const known = texts.get(value);
    if (known !== undefined) return known;
    const text = labelText(name, value);
    if (texts.size < kept.most && value.length <= kept.length) texts.set(value, text);
    return text;
  };
}
