import type { PermissionsRole } from "@millwright/core";
import type { ApiClient } from "@millwright/kube";

const group = "rbac.authorization.k8s.io";
const resourceOf = (kind: string) => ({
  group,
  version: "v1",
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: !kind.startsWith("Cluster"),
});

/** Creates roles, and binds a user to each of them. */
export async function grantRoles(api: ApiClient, user: string, roles: readonly PermissionsRole[]): Promise<void> {
  for (const role of roles) {
    const { kind, metadata } = role;
    await api.create(resourceOf(kind), { ...role });
    await api.create(resourceOf(`${kind}Binding`), {
      metadata: { ...metadata },
      roleRef: { apiGroup: group, kind, name: metadata.name },
      subjects: [{ apiGroup: group, kind: "User", name: user }],
    });
  }
}
