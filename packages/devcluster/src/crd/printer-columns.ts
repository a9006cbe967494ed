import { arrayAt, field, type Json, type JsonObject, stringAt } from "../json/json.ts";
import { ageColumn, nameColumn } from "../resources/common-columns.ts";
import type { Column } from "../resources/resource-definition.ts";
import { compileJsonPath } from "../json/json-path.ts";
import { ageText } from "../objects/timestamps.ts";

const columnTypes: readonly Column["type"][] = ["string", "integer", "number", "boolean", "date"];

/** The columns of a version of a CRD: the name, then `additionalPrinterColumns`, or the age when it has none. */
export function printerColumns(version: JsonObject): readonly Column[] {
  const declared = arrayAt(version, "additionalPrinterColumns");
  return declared.length === 0 ? [nameColumn, { ...ageColumn, type: "date" }] : [nameColumn, ...declared.map(columnOf)];
}

function columnOf(declaration: Json): Column {
  const type = columnTypes.find((known) => known === field(declaration, "type")) ?? "string";
  const read = compileJsonPath(stringAt(declaration, "jsonPath") ?? "");
  const priority = field(declaration, "priority");
  return {
    name: stringAt(declaration, "name") ?? "",
    type,
    format: stringAt(declaration, "format") ?? "",
    description:
      stringAt(declaration, "description") ??
      `Custom resource definition column (in JSONPath format): ${stringAt(declaration, "jsonPath") ?? ""}`,
    priority: typeof priority === "number" ? priority : 0,
    cell(object, now) {
      const values = read?.(object) ?? [];
      return cellOf(values, type, now);
    },
  };
}

function cellOf(values: readonly Json[], type: Column["type"], now: Date): Json {
  const [first] = values;
  if (first === undefined) return null;
  switch (type) {
    case "date":
      return ageText(first, now);
    case "integer":
      return typeof first === "number" ? Math.trunc(first) : null;
    case "number":
      return typeof first === "number" ? first : null;
    case "boolean":
      return typeof first === "boolean" ? first : null;
    case "string":
      return values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(",");
  }
}
