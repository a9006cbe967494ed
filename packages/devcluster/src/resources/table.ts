import type { Json, JsonObject } from "../json/json.ts";
import type { Column, ResourceDefinition } from "./resource-definition.ts";

/** What each row has besides its cells (`includeObject` of the query). */
export type IncludedObject = "None" | "Metadata" | "Object";

/** The `meta.k8s.io/v1` Table of objects. Later events of a watch have no column definitions. */
export function tableOf(
  definition: ResourceDefinition,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  now: Date,
  options: { readonly include: IncludedObject; readonly withColumns: boolean },
): JsonObject {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.withColumns ? definition.columns.map(columnDefinition) : null,
    rows: objects.map((object) => ({
      cells: definition.columns.map((column) => column.cell(object, now)),
      ...rowObject(definition, object, options.include),
    })),
  };
}

/** An object reduced to its metadata. */
export function partialObject(object: JsonObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object["metadata"] ?? {} };
}

function rowObject(definition: ResourceDefinition, object: JsonObject, include: IncludedObject): JsonObject {
  switch (include) {
    case "None":
      return { object: null };
    case "Metadata":
      return { object: partialObject(object) };
    case "Object":
      return { object: definition.view === undefined ? object : definition.view.show(object) };
  }
}

function columnDefinition(column: Column): Json {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? "",
    description: column.description ?? "",
    priority: column.priority ?? 0,
  };
}
