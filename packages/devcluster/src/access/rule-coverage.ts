import type { PolicyRule } from "./rbac-rules.ts";

const nothing: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

/**
 * The part of `wanted` that `owned` does not grant, as rules with one verb and one resource (or path) each. Source: the policy
 * comparator of kube-apiserver's RBAC.
 */
export function missingRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(singlePermissions).filter((permission) => !owned.some((rule) => gives(rule, permission)));
}

/** Rules as an escalation error lists them: the verbs of a resource together, sorted, in Go's notation. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const byPlace = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs.length > 0) others.push(rule);
    else {
      const place = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
      const before = byPlace.get(place);
      byPlace.set(place, before === undefined ? rule : { ...before, verbs: [...before.verbs, ...rule.verbs] });
    }
  }
  return [...new Set([...others, ...byPlace.values()].map(describeRule))].toSorted().join("\n");
}

/** A list of texts as Go prints it with `%q`. */
export function goList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

function describeRule({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  return `{${parts
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${goList(list)}`)
    .join(", ")}}`;
}

function singlePermissions(rule: PolicyRule): readonly PolicyRule[] {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  const ofResources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((resourceNames) => ({
          ...nothing,
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          resourceNames,
        })),
      ),
    ),
  );
  const ofPaths = rule.nonResourceURLs.flatMap((path) =>
    rule.verbs.map((verb) => ({ ...nothing, nonResourceURLs: [path], verbs: [verb] })),
  );
  return [...ofResources, ...ofPaths];
}

/** Whether a rule covers a permission, which has at most one value in each list. */
function gives(rule: PolicyRule, permission: PolicyRule): boolean {
  const hasAll = (owned: readonly string[], wanted: readonly string[]): boolean =>
    owned.includes("*") || wanted.every((value) => owned.includes(value));
  const hasName =
    rule.resourceNames.length === 0 ||
    (permission.resourceNames.length > 0 &&
      permission.resourceNames.every((name) => rule.resourceNames.includes(name)));
  return (
    hasName &&
    hasAll(rule.verbs, permission.verbs) &&
    hasAll(rule.apiGroups, permission.apiGroups) &&
    permission.resources.every((resource) => hasResource(rule.resources, resource)) &&
    permission.nonResourceURLs.every((path) => rule.nonResourceURLs.some((owned) => coversPath(owned, path)))
  );
}

function hasResource(owned: readonly string[], resource: string): boolean {
  const slash = resource.indexOf("/");
  return (
    owned.includes("*") || owned.includes(resource) || (slash >= 0 && owned.includes(`*/${resource.slice(slash + 1)}`))
  );
}

function coversPath(owned: string, path: string): boolean {
  return owned === path || (owned.endsWith("*") && path.startsWith(owned.replace(/\*+$/, "")));
}
