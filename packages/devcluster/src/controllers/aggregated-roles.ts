import { applyObject } from "../verbs/apply.ts";
import { arrayAt, field, isObject, jsonEqual, type Json, type JsonObject } from "../json/json.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { matcherOfSelectorObject } from "../selectors/label-selector.ts";
import { createDeferredRun } from "./deferred-run.ts";

const group = "rbac.authorization.k8s.io";
const clusterRoles = `clusterroles.${group}`;
const manager = "clusterrole-aggregation-controller";
const applyOptions = {
  dryRun: false,
  fieldManager: manager,
  manager,
  fieldValidation: "Ignore",
  force: true,
  subresource: "",
} as const;

/**
 * Maintains the rules of ClusterRoles with an `aggregationRule`: those of the selected roles, without duplicates, by role name.
 */
export function runClusterRoleAggregation(context: ServerContext): () => void {
  const { store, registry, log } = context;
  const definition = registry.findKind(group, "ClusterRole");
  if (definition === undefined) return () => {};
  const work = createDeferredRun(() => {
    for (const role of store.list(clusterRoles)) {
      if (role.metadata.deletionTimestamp !== undefined || !isObject(field(role, "aggregationRule"))) continue;
      const rules = aggregatedRules(role, store.list(clusterRoles));
      if (jsonEqual(rules, arrayAt(role, "rules"))) continue;
      const { name } = role.metadata;
      const body: JsonObject = { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: { name }, rules };
      try {
        applyObject(context, definition, { namespace: "", name }, body, applyOptions);
      } catch (error) {
        log("warn", "Failed to aggregate the rules of a ClusterRole", { kind: "ClusterRole", name, error });
      }
    }
  });
  const unsubscribe = store.subscribe(clusterRoles, () => work.schedule());
  work.schedule();
  return () => {
    unsubscribe();
    work.stop();
  };
}

/** The rules that an aggregated role should have, given all roles. */
export function aggregatedRules(role: StoredObject, all: readonly StoredObject[]): readonly Json[] {
  const rules: Json[] = [];
  for (const selector of arrayAt(role, "aggregationRule", "clusterRoleSelectors")) {
    const selects = matcherOfSelectorObject(isObject(selector) ? selector : undefined);
    const selected = all
      .filter((other) => other.metadata.name !== role.metadata.name && selects(other.metadata.labels))
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const rule of selected.flatMap((other) => arrayAt(other, "rules"))) {
      if (!rules.some((present) => jsonEqual(present, rule))) rules.push(rule);
    }
  }
  return rules;
}
