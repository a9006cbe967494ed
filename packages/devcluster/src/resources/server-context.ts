import type { Log } from "@millwright/kube";
import type { Clock, Random } from "@millwright/base";
import type { StoredObject } from "../objects/stored-object.ts";
import type { JsonObject } from "../json/json.ts";
import { apiVersionOf, type ResourceDefinition } from "./resource-definition.ts";
import type { Registry } from "./registry.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** The dependencies of verbs and controllers. */
export interface ServerContext {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How often each watch gets a bookmark, milliseconds. */
  readonly bookmarkEveryMs: number;
}

/** Namespace and name of an object; `namespace` is empty for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace: string;
  readonly name: string;
}

/** A stored object for a client of `definition`: in its version, or as its view. */
export function shown(definition: ResourceDefinition, object: JsonObject): JsonObject {
  if (definition.view !== undefined) return definition.view.show(object);
  const apiVersion = apiVersionOf(definition);
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

/** The object with a namespace and name; undefined when it does not exist. */
export function find(
  { store }: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
): StoredObject | undefined {
  return store.get(definition.collection, ref.namespace, ref.name);
}
