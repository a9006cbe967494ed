import { isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";

/** The metadata of a stored object, with the fields that the server sets. */
export interface StoredMeta extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
  readonly ownerReferences?: readonly JsonObject[];
}

/** A stored object: frozen, complete, with a resourceVersion. */
export interface StoredObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
}

/** An object that is ready to be stored: complete except for the resourceVersion. */
export interface PreparedObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
}

/** Whether a JSON value has the shape of a stored object. */
export function isStoredObject(value: Json | undefined): value is StoredObject {
  return isPreparedObject(value) && typeof stringAt(value, "metadata", "resourceVersion") === "string";
}

/** Whether the server's own fields (name, uid, creationTimestamp, apiVersion, kind) are present. */
export function isPreparedObject(value: Json | undefined): value is PreparedObject {
  if (!isObject(value) || typeof value["apiVersion"] !== "string" || typeof value["kind"] !== "string") return false;
  const meta = value["metadata"];
  return (
    isObject(meta) &&
    typeof meta["name"] === "string" &&
    typeof meta["uid"] === "string" &&
    typeof meta["creationTimestamp"] === "string"
  );
}

/** The namespace of an object; the empty string for cluster-scoped ones. */
export function namespaceOf(object: { readonly metadata: JsonObject }): string {
  const namespace = object.metadata["namespace"];
  return typeof namespace === "string" ? namespace : "";
}
