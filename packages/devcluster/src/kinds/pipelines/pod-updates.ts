import {
  arrayAt,
  at,
  isArray,
  isObject,
  type Json,
  jsonEqual,
  type JsonObject,
  objectAt,
  stringAt,
} from "../../json/json.ts";
import { forbiddenValue, invalidValue } from "../../errors/field-errors.ts";
import type { Cause } from "../../errors/status-error.ts";

const mutable: ReadonlySet<string> = new Set(["activeDeadlineSeconds", "tolerations", "schedulingGates"]);

/**
 * Validates an update of the spec of a pod: immutable except images, deadlines, tolerations and scheduling gates. Both specs have
 * the defaults of admission.
 */
export function podUpdateProblems(next: JsonObject, live: JsonObject): readonly Cause[] {
  for (const part of ["containers", "initContainers"]) {
    if (arrayAt(next, part).length !== arrayAt(live, part).length) {
      return [forbiddenValue(`spec.${part}`, "pod updates may not add or remove containers")];
    }
  }
  const changed = Object.keys({ ...live, ...next })
    .filter((key) => !mutable.has(key) && !jsonEqual(withoutImages(next[key]), withoutImages(live[key])))
    .toSorted();
  if (changed.length === 0) return [];
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n" +
    `changed: ${changed.join(", ")}`;
  return [forbiddenValue("spec", why)];
}

function withoutImages(value: Json | undefined): Json | undefined {
  return isArray(value) ? value.map((item) => (isObject(item) ? { ...item, image: undefined } : item)) : value;
}

/** Validates the conditions in an update of a pod's status. */
export function podConditionProblems(pod: JsonObject, faultsOf: (type: string) => readonly string[]): readonly Cause[] {
  return arrayAt(objectAt(pod, "status"), "conditions").flatMap((condition, index) => {
    const type = stringAt(condition, "type") ?? "";
    const isOwn = at(condition, "type") !== undefined && type.includes("/");
    return (isOwn ? faultsOf(type) : []).map((why) => invalidValue(`status.conditions[${index}].Type`, type, why));
  });
}
