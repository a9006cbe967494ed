/** Maximum length of a text of a provider or node in a condition. */
const longestText = 512;

/** Maximum length of the message of a condition: what the schema of metav1.Condition allows. */
const longestMessage = 32_768;

/** Truncates a text, with an ellipsis. */
const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

/** Truncates a text of a provider or node. */
export const cutText = (text: string): string => cut(text, longestText);

/** Truncates a message to what the API accepts. */
export const cutMessage = (message: string): string => cut(message, longestMessage);

/**
 * What follows a heading such as `* Machine a:` (Cluster API, `util/conditions/merge_strategies.go` indentIfMultiline): a plain text on the same line, anything else on lines of its own, nested
 * under the heading. A line counts as bulleted when it has `* ` anywhere.
 */
export function indented(message: string): string {
  const lines = message.split("\n");
  const isBulleted = (line: string): boolean => line.includes("* ");
  if (lines.length === 1 && !isBulleted(message)) return ` ${message}`;
  const isAll = lines.every(isBulleted);
  const nested = lines.map((line) => `${isAll ? "  " : isBulleted(line) ? "    " : "  * "}${line}`);
  return `\n${nested.join("\n")}`;
}

/** The first three names, sorted, and how many more there are: `a, b, c, ... (2 more)`. */
export function shortenNames(names: readonly string[]): string {
  const shown = 3;
  const sorted = names.toSorted();
  const rest = sorted.length - shown;
  return `${sorted.slice(0, shown).join(", ")}${rest > 0 ? `, ... (${rest} more)` : ""}`;
}
