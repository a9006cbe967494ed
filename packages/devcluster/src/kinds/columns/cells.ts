import { arrayAt, at, entriesOf, objectAt, stringAt, type Json } from "../../json/json.ts";
import type { Column } from "../../resources/resource-definition.ts";

/** A column that needs more than the value of a field; priority 1 is shown with `-o wide`. */
export const computed = (name: string, cell: Column["cell"], priority = 0): Column => ({
  name,
  type: "string",
  priority,
  cell,
});

/** The value at a path such as `status.phase`; `missing` is shown for an absent one. */
export const text = (name: string, path: string, missing = "", priority = 0): Column =>
  computed(name, (object) => shown(at(object, ...path.split("."))) ?? missing, priority);

/** The same, where an empty text is absent, too. */
export const wide = (name: string, path: string, missing = "<none>"): Column =>
  computed(name, (object) => stringAt(object, ...path.split(".")) || missing, 1);

/** A value that is not text. */
export const typed = (name: string, type: Column["type"], path: string, missing: Json): Column => ({
  name,
  type,
  cell: (object) => at(object, ...path.split(".")) ?? missing,
});

/** The number at a path; 0 for an absent one. */
export const count = (name: string, path: string): Column => typed(name, "integer", path, 0);

/** The number of items or fields at paths. */
export const size = (name: string, ...paths: readonly string[]): Column => ({
  name,
  type: "integer",
  cell: (object) =>
    paths
      .map((path) => path.split("."))
      .reduce((sum, path) => sum + entriesOf(objectAt(object, ...path)).length + arrayAt(object, ...path).length, 0),
});

function shown(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
