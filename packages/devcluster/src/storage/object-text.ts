import { type JsonObject, jsonText } from "../json/json.ts";

/** What was asked for last: an object, the form of it, and the text of that. */
let last: { readonly object: JsonObject; readonly form: string; readonly text: string } | undefined;

/**
 * The JSON text of an object, made once for those who need it in a row: the log, the history, every watcher of the change and the
 * answer to its writer. Only what is frozen, as everything in the store is, can be remembered without growing stale.
 */
export function textOf(object: JsonObject): string {
  return textIn("", object, () => object);
}

/** As {@link textOf}, of another form of the object: `form` names it, `show` makes it. */
export function textIn(form: string, object: JsonObject, show: () => JsonObject): string {
  if (last?.object === object && last.form === form) return last.text;
  const text = jsonText(show());
  if (Object.isFrozen(object) && Object.isFrozen(object["metadata"])) last = { object, form, text };
  return text;
}
