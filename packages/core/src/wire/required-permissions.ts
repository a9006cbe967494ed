/** A permission that the controllers need at an API server: verbs on one resource, as RBAC has them. */
export interface RequiredPermission {
  /** Where machines are declared (`control`), or which machines join (`target`). One cluster may be both. */
  readonly cluster: "control" | "target";
  /** `machines`: in the namespace of the machines. `kube-system`: in that namespace. `cluster`: in all namespaces, or of a resource without one. */
  readonly scope: "machines" | "kube-system" | "cluster";
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural of the resource, with the subresource after a slash. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Only the objects of these names. Default: all. */
  readonly resourceNames?: readonly string[];
  /** What the controllers do with it. */
  readonly purpose: string;
  /** What does not work without it, where the controllers run all the same. */
  readonly without?: string;
}

const machines = { cluster: "control", scope: "machines", group: "machine.sapcloud.io" } as const;
const target = { cluster: "target", scope: "cluster", group: "" } as const;
// Objects that a list lacks are read one by one, before they count as deleted.
const cached = ["get", "list", "watch"] as const;

/**
 * Every permission that the controllers need, in both clusters: the source of the roles that `millwright roles` prints, of what `millwright doctor` checks, and of docs/permissions.md.
 * `test/system/least-privilege.test.ts` runs the controllers with these permissions and nothing else.
 */
export const requiredPermissions: readonly RequiredPermission[] = [
  {
    ...machines,
    resource: "machines",
    verbs: [...cached, "create", "patch", "delete"],
    purpose: "reconcile Machines",
  },
  { ...machines, resource: "machines/status", verbs: ["patch"], purpose: "record phase, operation and conditions" },
  {
    ...machines,
    resource: "machinesets",
    verbs: [...cached, "create", "patch", "delete"],
    purpose: "reconcile MachineSets",
  },
  { ...machines, resource: "machinesets/status", verbs: ["patch"], purpose: "record replicas and conditions" },
  { ...machines, resource: "machinedeployments", verbs: [...cached, "patch"], purpose: "reconcile MachineDeployments" },
  { ...machines, resource: "machinedeployments/status", verbs: ["patch"], purpose: "record replicas and conditions" },
  {
    ...machines,
    resource: "machineclasses",
    // The commands doctor and drift get single classes; the permission to list them includes that.
    verbs: [...cached, "patch"],
    purpose: "read classes, keep those in use, fill in their node template",
  },
  {
    ...machines,
    resource: "machinesets/finalizers",
    verbs: ["update"],
    purpose: "own Machines",
    without: "MachineSets own no Machines where the admission plugin OwnerReferencesPermissionEnforcement is on",
  },
  {
    ...machines,
    resource: "machinedeployments/finalizers",
    verbs: ["update"],
    purpose: "own MachineSets",
    without:
      "MachineDeployments own no MachineSets where the admission plugin OwnerReferencesPermissionEnforcement is on",
  },
  {
    ...machines,
    group: "",
    resource: "secrets",
    verbs: [...cached, "patch"],
    purpose: "read the secrets of classes, keep those in use",
  },
  { ...machines, group: "", resource: "events", verbs: ["create", "patch"], purpose: "record events" },
  {
    ...machines,
    group: "coordination.k8s.io",
    resource: "leases",
    verbs: ["get", "create", "update"],
    purpose: "elect a leader",
  },
  {
    cluster: "control",
    scope: "cluster",
    group: "apiextensions.k8s.io",
    resource: "customresourcedefinitions",
    resourceNames: ["machineclasses", "machinedeployments", "machines", "machinesets"].map(
      (plural) => `${plural}.machine.sapcloud.io`,
    ),
    verbs: cached,
    purpose: "keep VMs when a CustomResourceDefinition is deleted",
    without: "deleting a CustomResourceDefinition deletes all VMs of its machines",
  },
  {
    ...target,
    resource: "nodes",
    verbs: [...cached, "patch", "delete"],
    purpose: "find, label, cordon, delete Nodes",
  },
  {
    ...target,
    resource: "events",
    verbs: ["create", "patch"],
    purpose: "record events of Nodes",
    without: "Nodes have no event about their writes that are refused",
  },
  { ...target, resource: "nodes/status", verbs: ["patch"], purpose: "record conditions and virtual capacity" },
  { ...target, resource: "pods", verbs: [...cached, "delete"], purpose: "drain, and force a drain" },
  { ...target, resource: "pods/eviction", verbs: ["create"], purpose: "drain" },
  { ...target, group: "policy", resource: "poddisruptionbudgets", verbs: cached, purpose: "drain" },
  { ...target, resource: "persistentvolumeclaims", verbs: cached, purpose: "wait for volumes in a drain" },
  { ...target, resource: "persistentvolumes", verbs: cached, purpose: "wait for volumes in a drain" },
  {
    ...target,
    group: "storage.k8s.io",
    resource: "volumeattachments",
    verbs: [...cached, "delete"],
    purpose: "wait for volumes in a drain, detach those of a forced one",
  },
  {
    ...target,
    scope: "kube-system",
    resource: "secrets",
    verbs: ["create", "get", "delete"],
    purpose: "create bootstrap tokens, with which nodes join",
  },
];

/** A rule of an RBAC role. */
interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A role as the API server takes it. */
export interface PermissionsRole {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "Role" | "ClusterRole";
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly PolicyRule[];
}

const ruleOf = ({ group, resource, resourceNames, verbs }: RequiredPermission): PolicyRule => ({
  apiGroups: [group],
  resources: [resource],
  ...(resourceNames === undefined ? {} : { resourceNames }),
  verbs,
});

/** What reads, and changes nothing. */
const reading: ReadonlySet<string> = new Set(cached);

/** What `millwright run --shadow` needs of a permission; nothing of one about what it never reads. */
const readOnly = (permission: RequiredPermission): RequiredPermission => ({
  ...permission,
  verbs:
    permission.resource === "leases" || permission.scope === "kube-system"
      ? []
      : permission.verbs.filter((verb) => reading.has(verb)),
});

/**
 * The roles of one cluster with the permissions that the controllers need there, and no others. `millwright` in the namespace of the machines, `millwright-control` and
 * `millwright-target` for the whole cluster, `millwright-tokens` in `kube-system`.
 *
 * @param options.isShadow the roles of `millwright run --shadow` instead, which only read; their names begin with `millwright-shadow`
 */
export function requiredRoles(
  cluster: RequiredPermission["cluster"],
  namespace: string,
  { isShadow = false }: { readonly isShadow?: boolean } = {},
): readonly PermissionsRole[] {
  const permissions = isShadow
    ? requiredPermissions.map(readOnly).filter(({ verbs }) => verbs.length > 0)
    : requiredPermissions;
  const prefix = isShadow ? "millwright-shadow" : "millwright";
  const role = (
    scope: RequiredPermission["scope"],
    kind: PermissionsRole["kind"],
    metadata: PermissionsRole["metadata"],
  ): PermissionsRole => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind,
    metadata,
    rules: permissions.filter((permission) => permission.cluster === cluster && permission.scope === scope).map(ruleOf),
  });
  return [
    role("machines", "Role", { name: prefix, namespace }),
    role("kube-system", "Role", { name: `${prefix}-tokens`, namespace: "kube-system" }),
    role("cluster", "ClusterRole", { name: `${prefix}-${cluster}` }),
  ].filter(({ rules }) => rules.length > 0);
}
