import { jsonEqual, type JsonObject, objectAt } from "../json/json.ts";
import type { ResourceKey } from "./watched-resources.ts";
import type { Action, Item } from "./view.ts";

/** The patch that sets fields of a status; none when they are set already. */
export function statusPatch(kind: ResourceKey, item: Item, wanted: JsonObject): readonly Action[] {
  const present = objectAt(item, "status");
  const isSame = Object.entries(wanted).every(([key, value]) => jsonEqual(present[key], value));
  return isSame ? [] : [{ do: "patch", kind, item, patch: { status: wanted }, subresource: "status" }];
}
