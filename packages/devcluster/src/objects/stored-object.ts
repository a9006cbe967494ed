import { isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";

/** The metadata of an object that is stored: the server has filled in what it owes every object. */
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

/** An object as the store holds it: frozen, complete, with a resourceVersion. */
export interface StoredObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
}

/** An object on its way into the store: everything but the resourceVersion is settled. */
export interface PreparedObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
}

/** True when a JSON value has the shape that the store promises to its readers. */
export function isStoredObject(value: Json | undefined): value is StoredObject {
  return isPreparedObject(value) && typeof stringAt(value, "metadata", "resourceVersion") === "string";
}

/** True when the server's own fields (name, uid, creationTimestamp, apiVersion, kind) are there. */
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
