import type { StoredObject } from "../objects/stored-object.ts";
import type { Json, JsonObject } from "../json/json.ts";
import type { Cause, ResourceName } from "../errors/status-error.ts";
import type { Schema } from "../schema/schema.ts";

/** One column of a resource's table. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority?: number;
  /** The value of the cell; null when there is none. */
  readonly cell: (object: JsonObject, now: Date) => Json;
}

/** The JSON paths of a scale subresource, in the dotted form of a CRD (`.spec.replicas`). */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The subresources that a resource serves. */
export interface Subresources {
  readonly status?: boolean;
  readonly scale?: ScalePaths;
  readonly eviction?: boolean;
  readonly binding?: boolean;
  readonly finalize?: boolean;
}

/** The defaults and validation of a kind's objects before they are stored, beyond those of all kinds. */
export interface SchemaPipeline {
  /** Drops unknown fields and applies defaults. `unknown` has the paths of the dropped fields. */
  prepare(object: JsonObject): { readonly object: JsonObject; readonly unknown: readonly string[] };
  /** Adds the fields that admission and the storage layer add, without a field owner. */
  complete?(object: JsonObject): JsonObject;
  /**
   * Validates a prepared object. `live` is the stored object, if any. `part` is `status` for a write through the status
   * subresource.
   */
  validate(object: JsonObject, live: JsonObject | undefined, part?: "all" | "status"): readonly Cause[];
}

/** A resource in one version, built in or declared by a CRD. */
export interface ResourceDefinition extends ResourceName {
  readonly version: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** The collection of its stored objects, shared by versions and views of the resource. */
  readonly collection: string;
  readonly origin: "built-in" | "custom";
  readonly subresources: Subresources;
  readonly columns: readonly Column[];
  readonly schema: Schema;
  /** Only built-in kinds support strategic merge patch. */
  readonly strategicMerge: boolean;
  /** Whether `metadata.generation` counts changes outside of metadata and status. */
  readonly countsGeneration: boolean;
  /** Whether a create keeps the status that was sent, as for Nodes. */
  readonly keepsStatusOnCreate: boolean;
  /** Whether an update may omit the resourceVersion; custom resources and leases require it. */
  readonly unconditionalUpdate: boolean;
  /** Names are DNS labels (namespaces), DNS subdomains, or valid path segments (roles). */
  readonly nameRule: "label" | "subdomain" | "path";
  readonly selectable: readonly string[];
  readonly fieldsOf: (object: StoredObject) => Readonly<Record<string, string>>;
  readonly pipeline: SchemaPipeline;
  /** For views of another kind's objects: the conversions for reads and writes. */
  readonly view?: {
    readonly show: (object: JsonObject) => JsonObject;
    readonly store: (object: JsonObject) => JsonObject;
  };
}

/** `group/version`, or the version alone for the core group. */
export function apiVersionOf(definition: { readonly group: string; readonly version: string }): string {
  return definition.group === "" ? definition.version : `${definition.group}/${definition.version}`;
}
