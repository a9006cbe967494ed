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

/**
 * Applies a strategic merge patch as far as a fake goes: `status.conditions` is merged by type, all else as by a JSON merge patch.
 *
 * @throws TypeError for any other list, which the API server may merge by a key: use the devcluster
 */
export function applyStrategicPatch(old: unknown, patch: unknown): unknown {
  const status = isRecord(patch) ? patch["status"] : undefined;
  if (
    !isRecord(patch) ||
    !isRecord(status) ||
    Object.keys(patch).length > 1 ||
    Object.values(status).some((value) => Array.isArray(value) && value !== status["conditions"])
  )
    throw new TypeError("the fake API server has strategic patches of conditions only: use the devcluster");
  const before = isRecord(old) && isRecord(old["status"]) ? old["status"]["conditions"] : undefined;
  const conditions = mergeConditions(asConditions(before), asConditions(status["conditions"]));
  return applyMergePatch(old, { status: { ...status, ...("conditions" in status ? { conditions } : {}) } });
}
