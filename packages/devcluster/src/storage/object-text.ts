import { type JsonObject, jsonText } from "../json/json.ts";

/** The last text, with its object and form. */
let last: { readonly object: JsonObject; readonly form: string; readonly text: string } | undefined;

/**
 * The JSON text of an object, created once for its successive users: the log, the history, every watcher of the change and the
 * response to its writer. Only frozen objects, as all stored ones are, can be cached safely.
 */
export function textOf(object: JsonObject): string {
  return textIn("", object, () => object);
}

/** As {@link textOf}, for another form of the object: `form` names it, `show` creates it. */
export function textIn(form: string, object: JsonObject, show: () => JsonObject): string {
  if (last?.object === object && last.form === form) return last.text;
  const text = jsonText(show());
  if (Object.isFrozen(object) && Object.isFrozen(object["metadata"])) last = { object, form, text };
  return text;
}
