/**
 * Characters that a terminal, a log viewer or a reader does not see as they are: controls (with those that start ANSI sequences) except line
 * breaks and tabs, separators of lines, marks of the writing direction, which make a text appear in another order, invisible ones, and halves of characters.
 */
const unprintable =
  /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const isPlain = /^[ -~\n\t]*$/;

/** A text from elsewhere in which each character that would not be seen is replaced. */
export const toPrintable = (text: string, replacement = "\uFFFD"): string =>
  isPlain.test(text) ? text : text.replaceAll(unprintable, replacement);

/** The first names for a message, and how many more there are: `a, b, c and 4 more`. */
export function nameList(names: readonly string[], most = 3): string {
  const rest = names.length - most;
  return `${names.slice(0, most).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
