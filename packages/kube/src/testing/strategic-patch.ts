import { isRecord } from "@millwright/base";
import { applyMergePatch } from "../json/json-merge-patch.ts";

type Conditions = readonly Readonly<Record<string, unknown>>[];

const asConditions = (value: unknown): Conditions => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Conditions are merged by their type; what the patch does not name stays. */
function mergeConditions(old: Conditions, patch: Conditions): Conditions {
  const merged = new Map(old.map((condition) => [condition["type"], condition]));
  for (const condition of patch) merged.set(condition["type"], { ...merged.get(condition["type"]), ...condition });
  return [...merged.values()];
}

/** Adds to the finalizers; the rest of the metadata is merged. */
function patchMetadata(old: unknown, metadata: Readonly<Record<string, unknown>>): unknown {
  const before = isRecord(old) && isRecord(old["metadata"]) ? old["metadata"]["finalizers"] : undefined;
  const lists = [before, metadata["finalizers"]].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  return applyMergePatch(old, { metadata: { ...metadata, finalizers: [...new Set(lists)] } });
}

const hasOtherLists = (part: Readonly<Record<string, unknown>>, known: string): boolean =>
  Object.entries(part).some(([key, value]) => Array.isArray(value) && key !== known);

/**
 * Applies a strategic merge patch as far as a fake goes: either of `metadata`, whose finalizers are added, or of `status`, whose `conditions` are merged by type; all else as by a JSON merge patch.
 *
 * @throws TypeError for any other list, which the API server may merge by a key: use the devcluster
 */
export function applyStrategicPatch(old: unknown, patch: unknown): unknown {
  const { status, metadata, ...rest } = isRecord(patch) ? patch : { status: undefined, metadata: undefined };
  const isOfMetadata = isRecord(metadata) && status === undefined && !hasOtherLists(metadata, "finalizers");
  const isOfStatus = isRecord(status) && metadata === undefined && !hasOtherLists(status, "conditions");
  if (Object.keys(rest).length === 0 && isOfMetadata) return patchMetadata(old, metadata);
  if (Object.keys(rest).length > 0 || !isOfStatus)
    throw new TypeError(
      "the fake API server has strategic patches of conditions or finalizers only: use the devcluster",
    );
  const before = isRecord(old) && isRecord(old["status"]) ? old["status"]["conditions"] : undefined;
  const conditions = mergeConditions(asConditions(before), asConditions(status["conditions"]));
  return applyMergePatch(old, { status: { ...status, ...("conditions" in status ? { conditions } : {}) } });
}
