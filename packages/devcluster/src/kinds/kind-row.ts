import { builtInPipeline } from "./pipelines/built-in-pipeline.ts";
import { defaultColumns } from "./columns/columns.ts";
import { stringAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { Schema } from "../schema/schema.ts";
import { builtInSchema } from "../schema/type-notation.ts";

/** A row of the table of built-in kinds: its differences from most kinds. */
export type Row = Pick<ResourceDefinition, "group" | "kind" | "plural" | "namespaced"> &
  Partial<Omit<ResourceDefinition, "schema">>;

/** Completes a row of the table with the defaults of most kinds. */
export function kind(row: Row): ResourceDefinition {
  let schema: Schema | undefined;
  return {
    version: "v1",
    listKind: `${row.kind}List`,
    singular: row.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    collection: `${row.plural}.${row.group}`,
    origin: "built-in",
    subresources: {},
    columns: defaultColumns,
    strategicMerge: true,
    countsGeneration: false,
    keepsStatusOnCreate: true,
    unconditionalUpdate: true,
    nameRule: "subdomain",
    selectable: [],
    fieldsOf: (object) =>
      Object.fromEntries((row.selectable ?? []).map((path) => [path, stringAt(object, ...path.split(".")) ?? ""])),
    pipeline: builtInPipeline(),
    ...row,
    // Read at the first use, since most runs never use most kinds.
    get schema() {
      return (schema ??= builtInSchema(row.group, row.kind));
    },
  };
}
