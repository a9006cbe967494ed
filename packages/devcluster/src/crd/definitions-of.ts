import { plainText } from "../json/quoting.ts";
import { arrayAt, at, field, isObject, type Json, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import type { ResourceDefinition, ScalePaths, SchemaPipeline } from "../resources/resource-definition.ts";
import type { Schema } from "../schema/schema.ts";
import { objectSchemaFields } from "../schema/type-notation.ts";
import { compileJsonPath } from "../json/json-path.ts";
import { printerColumns } from "./printer-columns.ts";
import { structuralPipeline } from "./custom-objects/structural-pipeline.ts";

const keepEverything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Pipelines live as long as their schema object, which is frozen in the store, so each is compiled once. */
const pipelines = new WeakMap<Schema, SchemaPipeline>();

/** The resources that an (Established) CRD declares, one for each served version. */
export function definitionsOf(crd: JsonObject): readonly ResourceDefinition[] {
  return arrayAt(crd, "spec", "versions")
    .filter((version) => isObject(version) && version["served"] === true)
    .map((version) => definitionOf(crd, isObject(version) ? version : {}));
}

function definitionOf(crd: JsonObject, version: JsonObject): ResourceDefinition {
  const group = stringAt(crd, "spec", "group") ?? "";
  const names = objectAt(crd, "spec", "names");
  const kind = stringAt(names, "kind") ?? "";
  const plural = stringAt(names, "plural") ?? "";
  const declared = at(version, "schema", "openAPIV3Schema");
  const structural = isObject(declared) ? declared : keepEverything;
  const subresources = subresourcesOf(version);
  const selectable = arrayAt(version, "selectableFields").map((entry) => stringAt(entry, "jsonPath") ?? "");
  return {
    group,
    version: stringAt(version, "name") ?? "",
    kind,
    plural,
    listKind: stringAt(names, "listKind") ?? `${kind}List`,
    singular: stringAt(names, "singular") ?? kind.toLowerCase(),
    shortNames: texts(field(names, "shortNames")),
    categories: texts(field(names, "categories")),
    namespaced: stringAt(crd, "spec", "scope") === "Namespaced",
    collection: `${plural}.${group}`,
    origin: "custom",
    subresources,
    columns: printerColumns(version),
    schema: withMetadata(structural),
    strategicMerge: false,
    countsGeneration: true,
    keepsStatusOnCreate: false,
    unconditionalUpdate: false,
    nameRule: "subdomain",
    selectable: selectable.map((path) => path.replace(/^\./, "")),
    fieldsOf: fieldReader(selectable),
    pipeline: pipelineOf(structural),
  };
}

function subresourcesOf(version: JsonObject): ResourceDefinition["subresources"] {
  const status = isObject(at(version, "subresources", "status"));
  const scale = at(version, "subresources", "scale");
  const specReplicasPath = stringAt(scale, "specReplicasPath");
  const statusReplicasPath = stringAt(scale, "statusReplicasPath");
  if (specReplicasPath === undefined || statusReplicasPath === undefined) return { status };
  const labelSelectorPath = stringAt(scale, "labelSelectorPath");
  const paths: ScalePaths = {
    specReplicasPath,
    statusReplicasPath,
    ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }),
  };
  return { status, scale: paths };
}

/** The schema with the metadata that all objects have, which CRDs leave out. */
function withMetadata(schema: Schema): Schema {
  return { ...schema, properties: { ...objectAt(schema, "properties"), ...objectSchemaFields() } };
}

function pipelineOf(schema: Schema): SchemaPipeline {
  const known = pipelines.get(schema) ?? structuralPipeline(schema);
  pipelines.set(schema, known);
  return known;
}

function fieldReader(paths: readonly string[]): ResourceDefinition["fieldsOf"] {
  const readers = paths.map((path) => [path.replace(/^\./, ""), compileJsonPath(path)] as const);
  return (object) => Object.fromEntries(readers.map(([path, read]) => [path, plainText(read?.(object)[0])]));
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
