import {
  arrayAt,
  at,
  entriesOf,
  field,
  isObject,
  type Json,
  jsonEqual,
  type JsonObject,
  objectAt,
  stringAt,
} from "../../json/json.ts";
import { quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";

const forbidden = (path: string, why: string): Cause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${why}`,
  field: path,
});

/**
 * Validates an update of the spec of a pod: immutable except images, deadlines and added tolerations. Both specs have the
 * defaults of admission. Source: `ValidatePodUpdate` of Kubernetes.
 */
export function podUpdateProblems(next: JsonObject, live: JsonObject): readonly Cause[] {
  for (const part of ["containers", "initContainers"]) {
    if (arrayAt(next, part).length !== arrayAt(live, part).length) {
      return [forbidden(`spec.${part}`, "pod updates may not add or remove containers")];
    }
  }
  const problems = [...deadlineProblems(next, live), ...tolerationProblems(next, live), ...gateProblems(next, live)];
  if (problems.length > 0) return problems;
  const changed = changedFields(next, live);
  if (changed.length === 0) return [];
  const why =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n" +
    `changed: ${changed.join(", ")}`;
  return [forbidden("spec", why)];
}

function deadlineProblems(next: JsonObject, live: JsonObject): readonly Cause[] {
  const [before, after] = [live["activeDeadlineSeconds"], next["activeDeadlineSeconds"]];
  if (typeof before !== "number") return [];
  const wrong = (value: Json, why: string): readonly Cause[] => [
    {
      reason: "FieldValueInvalid",
      message: `Invalid value: ${quoted(value)}: ${why}`,
      field: "spec.activeDeadlineSeconds",
    },
  ];
  if (typeof after !== "number") return wrong(null, "must not update from a positive integer to nil value");
  return after > before ? wrong(after, "must be less than or equal to previous value") : [];
}

function tolerationProblems(next: JsonObject, live: JsonObject): readonly Cause[] {
  const identity = (toleration: Json): JsonObject => {
    const { tolerationSeconds: _seconds, ...rest } = isObject(toleration) ? toleration : {};
    return rest;
  };
  const kept = arrayAt(next, "tolerations").map(identity);
  const isLost = arrayAt(live, "tolerations").some(
    (toleration) => !kept.some((candidate) => jsonEqual(candidate, identity(toleration))),
  );
  const why = "existing toleration can not be modified except its tolerationSeconds";
  return isLost ? [forbidden("spec.tolerations", why)] : [];
}

function gateProblems(next: JsonObject, live: JsonObject): readonly Cause[] {
  const before = new Set(arrayAt(live, "schedulingGates").map((gate) => stringAt(gate, "name")));
  return arrayAt(next, "schedulingGates").flatMap((gate, index) => {
    const name = stringAt(gate, "name") ?? "";
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return before.has(name) ? [] : [forbidden(`spec.schedulingGates[${index}].name`, why)];
  });
}

const free: ReadonlySet<string> = new Set(["activeDeadlineSeconds", "tolerations", "schedulingGates"]);
/** The changes that a pod with scheduling gates allows. */
const freeWhileGated: ReadonlySet<string> = new Set(["nodeSelector", "affinity"]);

function changedFields(next: JsonObject, live: JsonObject): readonly string[] {
  const isGated = arrayAt(live, "schedulingGates").length > 0;
  const keys = new Set([...entriesOf(live), ...entriesOf(next)].map(([key]) => key));
  return [...keys]
    .filter((key) => !free.has(key) && !(isGated && freeWhileGated.has(key)))
    .filter((key) => !isSame(key, field(next, key), field(live, key)))
    .toSorted();
}

function isSame(key: string, next: Json | undefined, live: Json | undefined): boolean {
  if (key === "terminationGracePeriodSeconds" && next === 1 && typeof live === "number" && live < 0) return true;
  if (key !== "containers" && key !== "initContainers") return jsonEqual(next, live);
  const withoutImage = (container: Json): JsonObject => {
    const { image: _image, ...rest } = isObject(container) ? container : {};
    return rest;
  };
  return jsonEqual(
    arrayAt({ next: next ?? [] }, "next").map(withoutImage),
    arrayAt({ live: live ?? [] }, "live").map(withoutImage),
  );
}

/** Validates the conditions in an update of a pod's status. */
export function podConditionProblems(pod: JsonObject, faultsOf: (type: string) => readonly string[]): readonly Cause[] {
  return arrayAt(objectAt(pod, "status"), "conditions").flatMap((condition, index) => {
    const type = stringAt(condition, "type") ?? "";
    const isOwn = at(condition, "type") !== undefined && type.includes("/");
    return (isOwn ? faultsOf(type) : []).map((why) => ({
      reason: "FieldValueInvalid",
      message: `Invalid value: ${quoted(type)}: ${why}`,
      field: `status.conditions[${index}].Type`,
    }));
  });
}
