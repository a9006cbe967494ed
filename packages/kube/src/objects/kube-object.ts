import { isRecord } from "@millwright/base";
import { isNewer } from "./resource-version.ts";

/**
 * One entry of `metadata.ownerReferences`.
 * Source: Kubernetes API conventions, "Metadata"; at most one entry may have `controller: true`.
 */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** `metadata` of any object. Times are RFC 3339 text, exactly as on the wire. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  /** Set once deletion was asked for; the object goes when its last finalizer goes. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** What the toolkit asks of every object: the least that typed objects (`Machine`, …) and plain JSON have in common. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** An object with nothing known except its metadata. */
export interface KubeObject extends ApiObject {
  readonly [field: string]: unknown;
}

/** `metadata` of a list. */
export interface ListMeta {
  /** The version from which a watch continues without a gap. */
  readonly resourceVersion?: string;
  /** Present when there is a further page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One page, or the whole, of a list. Items carry `apiVersion` and `kind` even where the server left them out. */
export interface ObjectList<T extends ApiObject = KubeObject> {
  readonly items: readonly T[];
  readonly metadata: ListMeta;
}

/** Where an object is: its name and, for namespaced types, its namespace. */
export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * The key of an object in stores and queues: `namespace/name`, or `name` for cluster-scoped ones.
 * An object without a name (a bookmark) has the key "".
 */
export function keyOf(object: ApiObject): string {
  return keyFor({ namespace: object.metadata.namespace, name: object.metadata.name ?? "" });
}

/** The key that belongs to a reference; see {@link keyOf}. */
export function keyFor(ref: ObjectRef): string {
  if (ref.namespace === undefined || ref.namespace === "") return ref.name;
  // Makes one text; a template makes one of two texts, which would both stay for as long as the key is kept.
  return [ref.namespace, ref.name].join("/");
}

/** The reverse of {@link keyFor}. */
export function parseKey(key: string): ObjectRef {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether a value from outside is an object with `metadata`, the least by which it can be handled. */
export function isApiObject(value: unknown): value is KubeObject {
  return isRecord(value) && isRecord(value["metadata"]);
}

/** The newest of some objects, newest first. */
export function newestOf<T extends ApiObject>(objects: Iterable<T>, count: number): readonly T[] {
  const newest: T[] = [];
  for (const object of objects) {
    const version = object.metadata.resourceVersion;
    if (newest.length === count && !isNewer(version, newest.at(-1)?.metadata.resourceVersion)) continue;
    const at = newest.findIndex(({ metadata }) => isNewer(version, metadata.resourceVersion));
    newest.splice(at < 0 ? newest.length : at, 0, object);
    newest.splice(count);
  }
  return newest;
}
