import type { ResourceType } from "@millwright/base";
import type { ObjectRef } from "../objects/kube-object.ts";
import { describeType } from "../objects/resource-type.ts";

/** Values of a query string; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The path of all objects of a type: in one namespace, or (namespace left out) in all of them. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root =
    type.group === ""
      ? `/api/${segment(type, "version", type.version)}`
      : `/apis/${segment(type, "group", type.group)}/${segment(type, "version", type.version)}`;
  const scope =
    type.namespaced && namespace !== undefined && namespace !== ""
      ? `/namespaces/${segment(type, "namespace", namespace)}`
      : "";
  return `${root}${scope}/${segment(type, "plural", type.plural)}`;
}

/**
 * The path of one object, or of one of its subresources.
 *
 * @throws TypeError when the name or the namespace is missing or could lead elsewhere (`..`, `a/b`). A name that came
 *   from an object must not be able to point the request at another one.
 */
export function objectPath(type: ResourceType, ref: ObjectRef, subresource?: string): string {
  if (type.namespaced && (ref.namespace === undefined || ref.namespace === "")) {
    throw new TypeError(`${describeType(type)} "${ref.name}": a namespace is needed for a namespaced type`);
  }
  const tail = subresource === undefined ? "" : `/${segment(type, "subresource", subresource)}`;
  return `${collectionPath(type, ref.namespace)}/${segment(type, "name", ref.name)}${tail}`;
}

/** `?a=b&c=d`, or nothing when no value is set. */
export function queryString(query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function segment(type: ResourceType, what: string, value: string): string {
  // Types allow a string only, but names come out of JSON.
  if (typeof value !== "string" || value === "" || value === "." || value === ".." || /[/%]/.test(value)) {
    throw new TypeError(
      `${describeType(type)}: ${what} ${JSON.stringify(value)} cannot be part of a path: expected a non-empty name without "/" and "%", and not "." or ".."`,
    );
  }
  return encodeURIComponent(value);
}
