import { applyMergePatch } from "@millwright/kube";
import { isArray, isObject, type Json, type JsonObject } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { StatusError, badRequest, unsupportedMediaType } from "../errors/status-error.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

export const jsonPatchType = "application/json-patch+json";
export const mergePatchType = "application/merge-patch+json";
export const strategicPatchType = "application/strategic-merge-patch+json";
export const applyPatchType = "application/apply-patch+yaml";

/** The patch types of a resource, in kube-apiserver's order. */
export function patchTypesOf(definition: Pick<ResourceDefinition, "strategicMerge">): readonly string[] {
  return definition.strategicMerge
    ? [jsonPatchType, mergePatchType, strategicPatchType, applyPatchType]
    : [jsonPatchType, mergePatchType, applyPatchType];
}

/** Applies a patch (not an apply) to the live object. Throws 415 for a type that the resource does not support. */
export function patched(
  definition: ResourceDefinition,
  live: JsonObject,
  mediaType: string,
  patch: Json | undefined,
): JsonObject {
  if (patch === undefined) throw badRequest("the patch is empty");
  const accepted = patchTypesOf(definition);
  if (mediaType === strategicPatchType && !accepted.includes(mediaType)) throw unsupportedMediaType(accepted);
  if (!accepted.includes(mediaType))
    throw new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  if (mediaType !== jsonPatchType && !isObject(patch)) {
    const given = isArray(patch) ? "array" : patch === null ? "null" : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${given} into Go value of type map[string]interface {}`,
    );
  }
  const result = ((): unknown => {
    switch (mediaType) {
      case jsonPatchType:
        return applyJsonPatch(live, patch);
      case mergePatchType:
        return applyMergePatch(live, patch);
      default:
        return applyStrategicMergePatch(live, patch, definition.schema);
    }
  })();
  if (!isObject(result)) throw badRequest("the patched object is not a JSON object any more");
  return result;
}
