import { plainText } from "../../json/quoting.ts";
import { at, type JsonObject, stringAt } from "../../json/json.ts";
import { ageText } from "../../objects/timestamps.ts";
import { nameColumn } from "../../resources/common-columns.ts";
import type { Column } from "../../resources/resource-definition.ts";
import { computed, text } from "./cells.ts";

function lastSeen(event: JsonObject, now: Date): string {
  const moment =
    stringAt(event, "series", "lastObservedTime") ||
    stringAt(event, "lastTimestamp") ||
    stringAt(event, "eventTime") ||
    stringAt(event, "firstTimestamp");
  return ageText(moment || undefined, now);
}

function sourceOf(event: JsonObject): string {
  const component = stringAt(event, "source", "component") ?? stringAt(event, "reportingComponent") ?? "";
  return [component, stringAt(event, "source", "host") ?? ""].filter((part) => part !== "").join(", ");
}

const involved = (event: JsonObject): string =>
  `${(stringAt(event, "involvedObject", "kind") ?? "").toLowerCase()}/${stringAt(event, "involvedObject", "name") ?? ""}`;

/** The columns of `kubectl get events`. */
export const eventColumns: readonly Column[] = [
  computed("Last Seen", lastSeen),
  text("Type", "type"),
  text("Reason", "reason"),
  computed("Object", involved),
  text("Subobject", "involvedObject.fieldPath", "", 1),
  computed("Source", sourceOf, 1),
  computed("Message", (event) => (stringAt(event, "message") ?? "").trim()),
  computed(
    "First Seen",
    (event, now) => ageText(stringAt(event, "firstTimestamp") ?? stringAt(event, "eventTime"), now),
    1,
  ),
  computed("Count", (event) => plainText(at(event, "series", "count") ?? at(event, "count") ?? 1), 1),
  { ...nameColumn, priority: 1 },
];
