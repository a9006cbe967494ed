import { arrayAt, entriesOf, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { plainText } from "../json/quoting.ts";

/** A `metav1.LabelSelector` as the text that `labelSelector` takes: `app=web,tier in (a,b),!old`. */
export function selectorText(selector: JsonObject): string {
  const labels = entriesOf(objectAt(selector, "matchLabels"))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${plainText(value)}`);
  const expressions = arrayAt(selector, "matchExpressions").map((expression) => {
    const key = stringAt(expression, "key") ?? "";
    const values = arrayAt(expression, "values").map(plainText).toSorted().join(",");
    switch (stringAt(expression, "operator") ?? "") {
      case "In":
        return `${key} in (${values})`;
      case "NotIn":
        return `${key} notin (${values})`;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return key;
    }
  });
  return [...labels, ...expressions].join(",");
}
