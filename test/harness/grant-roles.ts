import { type PermissionsRole, type RequiredPermission, requiredRoles } from "@millwright/core/machine-api";
import { type ApiClient, isAlreadyExists, type KubeObject, type ResourceType } from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";

const group = "rbac.authorization.k8s.io";
const resourceOf = (kind: string): ResourceType => ({
  group,
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: !kind.startsWith("Cluster"),
});

const accessReviews: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  namespaced: false,
};

/** The user that controllers run as in tests. It has the permissions of {@link grantControllers}, and no others. */
export const controllersUser = "controllers";

/** Creates roles, and binds a user to each of them. Those that exist are kept. */
export async function grantRoles(api: ApiClient, user: string, roles: readonly PermissionsRole[]): Promise<void> {
  const create = async (kind: string, object: KubeObject): Promise<void> => {
    await api.create(resourceOf(kind), object).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  };
  for (const role of roles) {
    const { kind, metadata } = role;
    await create(kind, { ...role });
    await create(`${kind}Binding`, {
      metadata: { ...metadata },
      roleRef: { apiGroup: group, kind, name: metadata.name },
      subjects: [{ apiGroup: group, kind: "User", name: user }],
    });
  }
}

/** The roles of a cluster. The names are others than those of a release of the chart, which a test may install besides. */
const rolesOf = (cluster: RequiredPermission["cluster"], namespace: string): readonly PermissionsRole[] =>
  requiredRoles(cluster, namespace).map((role) => ({
    ...role,
    metadata: { ...role.metadata, name: `test-${role.metadata.name}` },
  }));

/** Grants the {@link controllersUser} what `millwright roles` prints for these clusters and a namespace of machines. */
export async function grantControllers(
  api: ApiClient,
  namespace: string,
  clusters: readonly RequiredPermission["cluster"][] = ["control", "target"],
): Promise<void> {
  await grantRoles(
    api,
    controllersUser,
    clusters.flatMap((cluster) => rolesOf(cluster, namespace)),
  );
}

/**
 * Grants the {@link controllersUser} the permissions for a namespace of machines in a ClusterRole, which stays when the namespace is deleted: see
 * docs/permissions.md.
 */
export async function grantByClusterRole(api: ApiClient, namespace: string): Promise<void> {
  const rules = requiredRoles("control", namespace).flatMap(({ rules: each }) => each);
  const metadata = { name: `test-${namespace}` };
  await grantRoles(api, controllersUser, [{ apiVersion: `${group}/v1`, kind: "ClusterRole", metadata, rules }]);
}

/** Waits until a server allows what {@link grantControllers} grants: a real one learns of roles after they are stored. */
export async function untilGranted(
  api: ApiClient,
  namespace: string,
  clusters: readonly RequiredPermission["cluster"][] = ["control", "target"],
): Promise<void> {
  const spec = (role: PermissionsRole) =>
    role.rules.map(({ apiGroups, resources, resourceNames = [], verbs }) => {
      const [resource, subresource] = resources[0]?.split("/") ?? [];
      const { namespace: of } = role.metadata;
      const resourceAttributes = {
        verb: verbs[0],
        group: apiGroups[0],
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(resourceNames[0] === undefined ? {} : { name: resourceNames[0] }),
        ...(of === undefined ? {} : { namespace: of }),
      };
      return { user: controllersUser, resourceAttributes };
    });
  for (const each of clusters.flatMap((cluster) => rolesOf(cluster, namespace)).flatMap(spec))
    await eventually(async () => {
      const body = await api.create(accessReviews, { metadata: {}, spec: each });
      expect(body, JSON.stringify(each)).toMatchObject({ status: { allowed: true } });
    });
}

/** Withdraws the permissions at the target cluster again, as with two clusters. */
export async function withdrawTarget(api: ApiClient, namespace: string): Promise<void> {
  for (const { kind, metadata } of rolesOf("target", namespace))
    await api.delete(resourceOf(`${kind}Binding`), { ...metadata });
}

/** Requests of the controllers that were forbidden, as `VERB PATH`. */
export interface ForbiddenRequests {
  /** From now on requests that match are expected: the test forbids them. */
  expect(pattern: RegExp): void;
  /** @throws Error that names the others */
  check(requests: readonly string[]): void;
}

/** A suite fails when its controllers were forbidden anything that it does not expect. */
export function forbiddenRequests(): ForbiddenRequests {
  const expected: RegExp[] = [];
  return {
    expect: (pattern) => void expected.push(pattern),
    check(requests) {
      const others = requests.filter((request) => !expected.some((pattern) => pattern.test(request)));
      if (others.length === 0) return;
      const distinct = [...new Set(others)].toSorted();
      throw new Error(`The roles of millwright roles do not allow the controllers to:\n${distinct.join("\n")}`);
    },
  };
}

/** Grants a user rules in the whole cluster. */
export async function grantRules(api: ApiClient, user: string, rules: readonly object[]): Promise<void> {
  const name = `granted-${user}`;
  await api.create(resourceOf("ClusterRole"), { metadata: { name }, rules } as never);
  await api.create(resourceOf("ClusterRoleBinding"), {
    metadata: { name },
    roleRef: { apiGroup: group, kind: "ClusterRole", name },
    subjects: [{ apiGroup: group, kind: "User", name: user }],
  } as never);
}
