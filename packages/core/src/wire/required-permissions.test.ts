import { describe, expect, it } from "vitest";
import { crds } from "../machine-api/index.ts";
import { requiredPermissions, requiredRoles } from "./required-permissions.ts";

describe("the permissions of the controllers", () => {
  it("name each resource of a scope once", () => {
    const keys = requiredPermissions.map(({ cluster, scope, group, resource }) =>
      [cluster, scope, group, resource].join(" "),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("read the definitions of all kinds, and of no others", () => {
    const permission = requiredPermissions.find(({ resource }) => resource === "customresourcedefinitions");
    expect(permission?.resourceNames?.toSorted()).toEqual(
      crds()
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    );
  });

  it("include to read single objects of all that is listed, by which incomplete lists are detected", () => {
    const listed = requiredPermissions.filter(({ verbs }) => verbs.includes("list"));
    expect(listed.map(({ resource }) => resource)).toEqual(expect.arrayContaining(["machines", "secrets", "nodes"]));
    expect(listed.filter(({ verbs }) => !verbs.includes("get"))).toEqual([]);
  });

  it("become one role for each scope of a cluster", () => {
    const names = (cluster: "control" | "target"): readonly string[] =>
      requiredRoles(cluster, "shop").map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`,
      );
    expect(names("control")).toEqual(["Role shop/millwright", "ClusterRole -/millwright-control"]);
    expect(names("target")).toEqual(["Role kube-system/millwright-tokens", "ClusterRole -/millwright-target"]);
    const rules = (["control", "target"] as const).flatMap((each) =>
      requiredRoles(each, "shop").flatMap(({ rules }) => rules),
    );
    expect(rules).toHaveLength(requiredPermissions.length);
    expect(rules.flatMap(({ verbs }) => verbs)).not.toContain("*");
  });

  it("of a shadow only read, and have names of their own", () => {
    const roles = (["control", "target"] as const).flatMap((each) => requiredRoles(each, "shop", { isShadow: true }));
    expect(roles.map(({ metadata }) => metadata.name)).toEqual([
      "millwright-shadow",
      "millwright-shadow-control",
      "millwright-shadow-target",
    ]);
    const verbs = new Set(roles.flatMap(({ rules }) => rules.flatMap((rule) => rule.verbs)));
    expect([...verbs].toSorted()).toEqual(["get", "list", "watch"]);
  });
});
