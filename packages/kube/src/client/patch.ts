import { isRecord, type ResourceType } from "@millwright/base";
import type { ObjectRef } from "../objects/kube-object.ts";
import { apiVersionOf, describeType } from "../objects/resource-type.ts";
import type { WriteOptions } from "./call-options.ts";

/**
 * How a patch is meant.
 *
 * - `merge`: JSON merge patch (RFC 7386), understood by every type; null removes a field, a list replaces the list.
 * - `json`: JSON patch (RFC 6902), a list of operations.
 * - `strategic`: merges lists by key; built-in types only.
 * - `apply`: server-side apply, the patch is the whole intent of the field manager; creates the object when it is missing.
 */
export type PatchKind = "merge" | "json" | "strategic" | "apply";

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  readonly kind: PatchKind;
  /** For `apply`: takes over fields that others own. Default false. */
  readonly force?: boolean | undefined;
  /** Only in this version, else a conflict. Not with `json`: put a `test` operation into the patch. */
  readonly resourceVersion?: string | undefined;
  /** Only the object with this uid, else a conflict. Not with `json`. */
  readonly uid?: string | undefined;
}

const contentTypes: Readonly<Record<PatchKind, string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/**
 * The body and the content type of a patch. A patch of the wrong shape is rejected here: the server would answer with a
 * decoding error that names no field.
 *
 * @throws TypeError
 */
export function patchContentType(
  type: ResourceType,
  ref: ObjectRef,
  patch: unknown,
  options: PatchOptions,
): { readonly body: unknown; readonly contentType: string } {
  const contentType = contentTypes[options.kind];
  const what = `${describeType(type)} "${ref.name}"`;
  if (options.kind === "json") {
    if (!Array.isArray(patch)) throw new TypeError(`${what}: a JSON patch is a list of operations`);
    if (options.resourceVersion !== undefined || options.uid !== undefined) {
      throw new TypeError(`${what}: a JSON patch takes its preconditions as "test" operations, not as options`);
    }
    return { body: patch, contentType };
  }
  if (!isRecord(patch)) throw new TypeError(`${what}: a ${options.kind} patch is a JSON object`);
  if (options.kind === "apply") {
    if ((options.fieldManager ?? "") === "") throw new TypeError(`${what}: server-side apply needs a fieldManager`);
    const metadata = { ...metadataOf(patch), name: ref.name };
    return {
      body: {
        apiVersion: apiVersionOf(type),
        kind: type.kind,
        ...patch,
        metadata: withPreconditions(metadata, options),
      },
      contentType,
    };
  }
  if (options.resourceVersion === undefined && options.uid === undefined) return { body: patch, contentType };
  return { body: { ...patch, metadata: withPreconditions(metadataOf(patch), options) }, contentType };
}

function metadataOf(patch: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isRecord(patch["metadata"]) ? patch["metadata"] : {};
}

function withPreconditions(metadata: object, options: PatchOptions): object {
  return {
    ...metadata,
    ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  };
}
