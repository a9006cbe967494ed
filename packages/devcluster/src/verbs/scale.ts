import type { StoredObject } from "../objects/stored-object.ts";
import { at, isObject, type JsonObject, objectAt, withField } from "../json/json.ts";
import { selectorText } from "../selectors/selector-text.ts";
import type { ScalePaths } from "../resources/resource-definition.ts";

/** The `autoscaling/v1` Scale of an object. */
export function scaleOf(object: StoredObject, paths: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const found = paths.labelSelectorPath === undefined ? undefined : at(object, ...steps(paths.labelSelectorPath));
  const selector = isObject(found) ? selectorText(found) : found;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: at(object, ...steps(paths.specReplicasPath)) ?? 0 },
    status: {
      replicas: at(object, ...steps(paths.statusReplicasPath)) ?? 0,
      ...(typeof selector === "string" ? { selector } : {}),
    },
  };
}

/** The live object with the replicas (and the resourceVersion) of a Scale. */
export function withScale(live: JsonObject, scale: JsonObject, paths: ScalePaths): JsonObject {
  const replicas = at(scale, "spec", "replicas") ?? 0;
  const { resourceVersion, uid } = objectAt(scale, "metadata");
  const scaled = withField(live, steps(paths.specReplicasPath), replicas);
  const checked = typeof resourceVersion === "string" && resourceVersion !== "" ? resourceVersion : undefined;
  const withVersion = withField(scaled, ["metadata", "resourceVersion"], checked);
  return typeof uid === "string" && uid !== "" ? withField(withVersion, ["metadata", "uid"], uid) : withVersion;
}

function steps(path: string): readonly string[] {
  return path.split(".").filter((step) => step !== "");
}
