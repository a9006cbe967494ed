import { at, isObject, jsonEqual, type JsonObject, objectAt, withField } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/field-errors.ts";
import { matcherOfSelectorObject } from "../../selectors/label-selector.ts";
import type { Cause } from "../../errors/status-error.ts";
import { podProblems, withTemplateDefaults } from "./pod-pipeline.ts";
import type { SchemaPipeline } from "../../resources/resource-definition.ts";

/**
 * ReplicaSets, Deployments, StatefulSets and DaemonSets: the defaults of their kind and of their pods, and an immutable selector
 * that selects those pods.
 */
export function workloadPipeline(defaults: JsonObject): SchemaPipeline {
  return {
    prepare(object) {
      const spec = { ...defaults, ...objectAt(object, "spec") };
      const template = objectAt(spec, "template");
      const podSpec = at(template, "spec");
      const complete = isObject(podSpec) ? { ...template, spec: withTemplateDefaults(podSpec) } : template;
      return { object: { ...object, spec: { ...spec, template: complete } }, unknown: [] };
    },
    validate: (object, live) => [
      ...selectorProblems(object, live),
      ...podProblems(at(object, "spec", "template"), "spec.template."),
    ],
  };
}

function selectorProblems(object: JsonObject, live: JsonObject | undefined): readonly Cause[] {
  const path = "spec.selector";
  const selector = at(object, "spec", "selector");
  if (!isObject(selector)) return [required(path)];
  if (Object.keys(objectAt(selector, "matchLabels")).length === 0 && at(selector, "matchExpressions") === undefined) {
    return [invalidValue(path, selector, "empty selector is invalid for deployment")];
  }
  if (live !== undefined && !jsonEqual(at(live, "spec", "selector"), selector)) {
    return [invalidValue(path, selector, "field is immutable")];
  }
  const labels = objectAt(object, "spec", "template", "metadata", "labels");
  if (matcherOfSelectorObject(selector)(labels)) return [];
  return [invalidValue("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")];
}

/** The roleRef of a binding is immutable. */
export const bindingPipeline: SchemaPipeline = {
  prepare: (object) => ({ object: withField(object, ["subjects"], at(object, "subjects")), unknown: [] }),
  validate(object, live) {
    const role = at(object, "roleRef");
    if (!isObject(role)) return [required("roleRef.name")];
    if (live === undefined || jsonEqual(at(live, "roleRef"), role)) return [];
    return [invalidValue("roleRef", role, "cannot change roleRef")];
  },
};
