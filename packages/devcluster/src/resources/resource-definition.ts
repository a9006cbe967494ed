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

/** What becomes of an object on its way into the store, beyond what is the same for all kinds. */
export interface SchemaPipeline {
  /** Drops unknown fields and fills in defaults. `unknown` names the dropped fields, by path. */
  prepare(object: JsonObject): { readonly object: JsonObject; readonly unknown: readonly string[] };
  /** Adds what admission and the storage add on their own account: nobody becomes the owner of it. */
  complete?(object: JsonObject): JsonObject;
  /**
   * Everything that is wrong with a prepared object; `live` is what is stored, when there is something. `part` is `status` for a
   * write through the status subresource.
   */
  validate(object: JsonObject, live: JsonObject | undefined, part?: "all" | "status"): readonly Cause[];
}

/** All that the server knows of one resource in one version: built in, or read out of a CRD. */
export interface ResourceDefinition extends ResourceName {
  readonly version: string;
  readonly listKind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Where its objects are stored; versions and views of one resource share it. */
  readonly collection: string;
  readonly origin: "built-in" | "custom";
  readonly subresources: Subresources;
  readonly columns: readonly Column[];
  readonly schema: Schema;
  /** Strategic merge patch is for built-in kinds only. */
  readonly strategicMerge: boolean;
  /** Whether `metadata.generation` counts the changes outside of metadata and status. */
  readonly countsGeneration: boolean;
  /** Whether the status sent with a create is kept, as for Nodes. */
  readonly keepsStatusOnCreate: boolean;
  /** Whether an update without a resourceVersion is accepted; custom resources and leases insist on one. */
  readonly unconditionalUpdate: boolean;
  /** Names are DNS labels (namespaces), DNS subdomains, or anything that can be a part of a path (roles). */
  readonly nameRule: "label" | "subdomain" | "path";
  readonly selectable: readonly string[];
  readonly fieldsOf: (object: StoredObject) => Readonly<Record<string, string>>;
  readonly pipeline: SchemaPipeline;
  /** For views of another kind's objects: how they are shown and how they are written. */
  readonly view?: {
    readonly show: (object: JsonObject) => JsonObject;
    readonly store: (object: JsonObject) => JsonObject;
  };
}

/** `group/version`, or the version alone for the core group. */
export function apiVersionOf(definition: { readonly group: string; readonly version: string }): string {
  return definition.group === "" ? definition.version : `${definition.group}/${definition.version}`;
}
