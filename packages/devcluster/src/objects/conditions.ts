import { arrayAt, field, type Json, type JsonObject, withField } from "../json/json.ts";

/** A desired condition; fields that are left out are left out of the object as well. */
export interface WantedCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  /** Conditions of pods have it, always null. */
  readonly lastProbeTime?: null;
}

/** The condition of a type; undefined when there is none. */
export function conditionOf(object: Json | undefined, type: string): Json | undefined {
  return arrayAt(object, "status", "conditions").find((condition) => field(condition, "type") === type);
}

/** Whether the condition of a type is True. */
export function isTrue(object: Json | undefined, type: string): boolean {
  return field(conditionOf(object, type), "status") === "True";
}

/** Sets a condition. Its transition time stays while its status does; an unchanged object is returned as it was. */
export function withCondition(object: JsonObject, wanted: WantedCondition, now: string): JsonObject {
  const present = conditionOf(object, wanted.type);
  const isSame = ["status", "reason", "message"].every((key) => field(present, key) === field({ ...wanted }, key));
  if (isSame) return object;
  const since = field(present, "status") === wanted.status ? field(present, "lastTransitionTime") : undefined;
  const next = { ...wanted, lastTransitionTime: since ?? now };
  const conditions = arrayAt(object, "status", "conditions");
  const index = present === undefined ? -1 : conditions.indexOf(present);
  const list = index < 0 ? [...conditions, next] : conditions.with(index, next);
  return withField(object, ["status", "conditions"], list);
}
