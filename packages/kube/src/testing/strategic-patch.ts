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

/** The directive by which finalizers are taken off. */
const REMOVED_FINALIZERS = "$deleteFromPrimitiveList/finalizers";

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Adds to the finalizers and takes off them; the rest of the metadata is merged. */
function patchMetadata(old: unknown, patch: Readonly<Record<string, unknown>>): unknown {
  const { [REMOVED_FINALIZERS]: removed, ...metadata } = patch;
  const before = isRecord(old) && isRecord(old["metadata"]) ? old["metadata"]["finalizers"] : undefined;
  const all = new Set([...asList(before), ...asList(metadata["finalizers"])]);
  for (const finalizer of asList(removed)) all.delete(finalizer);
  return applyMergePatch(old, { metadata: { ...metadata, finalizers: [...all] } });
}

const hasOtherLists = (part: Readonly<Record<string, unknown>>, ...known: readonly string[]): boolean =>
  Object.entries(part).some(([key, value]) => Array.isArray(value) && !known.includes(key));

/**
 * Applies a strategic merge patch as far as a fake goes: of `metadata`, whose finalizers are added or taken off, or of `status`, whose `conditions` are merged by type, or both; all else as by a JSON merge patch.
 *
 * @throws TypeError for any other list, which the API server may merge by a key: use the devcluster
 */
export function applyStrategicPatch(old: unknown, patch: unknown): unknown {
  const { status, metadata, ...rest } = isRecord(patch) ? patch : { status: undefined, metadata: undefined };
  const isKnownMetadata =
    metadata === undefined || (isRecord(metadata) && !hasOtherLists(metadata, "finalizers", REMOVED_FINALIZERS));
  const isKnownStatus = status === undefined || (isRecord(status) && !hasOtherLists(status, "conditions"));
  if (Object.keys(rest).length > 0 || !isKnownMetadata || !isKnownStatus)
    throw new TypeError(
      "the fake API server has strategic patches of conditions or finalizers only: use the devcluster",
    );
  const patched = isRecord(metadata) ? patchMetadata(old, metadata) : old;
  if (!isRecord(status)) return patched;
  const before = isRecord(old) && isRecord(old["status"]) ? old["status"]["conditions"] : undefined;
  const conditions = mergeConditions(asConditions(before), asConditions(status["conditions"]));
  return applyMergePatch(patched, { status: { ...status, ...("conditions" in status ? { conditions } : {}) } });
}
