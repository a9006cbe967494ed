import { expect, test } from "vitest";
import type { PolicyRule } from "./rbac-rules.ts";
import { describeRules, missingRules } from "./rule-coverage.ts";

const none: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const on = (apiGroups: string[], resources: string[], verbs: string[], resourceNames: string[] = []): PolicyRule => ({
  ...none,
  apiGroups,
  resources,
  verbs,
  resourceNames,
});
const paths = (nonResourceURLs: string[], verbs: string[]): PolicyRule => ({ ...none, nonResourceURLs, verbs });
const missing = (owned: readonly PolicyRule[], wanted: PolicyRule): string =>
  describeRules(missingRules(owned, [wanted]));

test.each<[string, PolicyRule, PolicyRule]>([
  ["the same", on([""], ["pods"], ["get"]), on([""], ["pods"], ["get"])],
  ["any verb", on([""], ["pods"], ["*"]), on([""], ["pods"], ["get", "delete"])],
  ["any resource of any group", on(["*"], ["*"], ["*"]), on(["apps"], ["deployments/scale"], ["update"])],
  ["a subresource of any resource", on([""], ["*/scale"], ["get"]), on([""], ["pods/scale"], ["get"])],
  ["all names for one", on([""], ["pods"], ["get"]), on([""], ["pods"], ["get"], ["a"])],
  ["some names for one of them", on([""], ["pods"], ["get"], ["a", "b"]), on([""], ["pods"], ["get"], ["b"])],
  ["a path below one", paths(["/healthz/*"], ["get"]), paths(["/healthz/etcd"], ["get"])],
  ["nothing for nothing", none, none],
])("%s is enough", (_, owned, wanted) => {
  expect(missing([owned], wanted)).toBe("");
});

test.each<[string, PolicyRule, PolicyRule, string]>([
  [
    "one verb for two",
    on([""], ["pods"], ["get"]),
    on([""], ["pods"], ["get", "list"]),
    '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
  ],
  [
    "every verb there is for any",
    on([""], ["pods"], ["get", "list", "watch", "create", "update", "patch", "delete"]),
    on([""], ["pods"], ["*"]),
    '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}',
  ],
  [
    "a resource for its subresource",
    on([""], ["pods"], ["get"]),
    on([""], ["pods/log"], ["get"]),
    '{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}',
  ],
  [
    "one name for all",
    on([""], ["pods"], ["get"], ["a"]),
    on([""], ["pods"], ["get"]),
    '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
  ],
  [
    "resources for paths",
    on(["*"], ["*"], ["*"]),
    paths(["/metrics"], ["get"]),
    '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
  ],
  [
    "one group for another",
    on(["apps"], ["deployments"], ["get"]),
    on(["extensions"], ["deployments"], ["get"]),
    '{APIGroups:["extensions"], Resources:["deployments"], Verbs:["get"]}',
  ],
])("%s is not enough", (_, owned, wanted, text) => {
  expect(missing([owned], wanted)).toBe(text);
});

test("two rules give together what neither gives alone", () => {
  const owned = [on([""], ["pods"], ["get"]), on([""], ["pods"], ["list"])];
  expect(missing(owned, on([""], ["pods"], ["get", "list"]))).toBe("");
});
