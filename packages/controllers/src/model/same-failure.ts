/** Parts that differ between attempts although the failure is the same: request ids, times. */
const fleeting =
  /[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|\b[\da-fA-F]{16,}\b|\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d[.\dZz]*/;

const allFleeting = new RegExp(fleeting, "g");

/** Whether two messages describe the same failure. */
export const isSameFailure = (a: string, b: string): boolean =>
  a.replace(allFleeting, "#") === b.replace(allFleeting, "#");

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * The words with which a text, possibly a longer one, reports the same failure: they may have another request id. `undefined` when it reports another
 * failure. Who repeats these words does not write each attempt.
 */
export function findSameFailure(text: string, failure: string): string | undefined {
  if (text.includes(failure)) return failure;
  const parts = failure.split(fleeting);
  return parts.length === 1 ? undefined : new RegExp(parts.map(escaped).join(`(?:${fleeting.source})`)).exec(text)?.[0];
}
