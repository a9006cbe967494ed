import { findMember } from "../json/json-text.ts";
import type { TextRange } from "../json/json-text.ts";

/**
 * The text of an API object, or of something that holds one, without the object's `metadata.managedFields`: half of the bytes of most
 * objects, read by no controller, and a third of the work of a cache if they were parsed first.
 *
 * @param holder keys that lead to the object: `["object"]` in a line of a watch
 * @param within the stretch of the text to look at. Default: all of it
 */
export function textWithoutManagedFields(
  bytes: Buffer,
  holder: readonly string[] = [],
  within: TextRange = { from: 0, to: bytes.length },
): string {
  const cut = findMember(bytes, [...holder, "metadata", "managedFields"], within);
  if (cut === undefined) return bytes.toString("utf8", within.from, within.to);
  return bytes.toString("utf8", within.from, cut.from) + bytes.toString("utf8", cut.to, within.to);
}
