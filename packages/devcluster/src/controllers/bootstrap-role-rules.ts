import type { JsonObject } from "../json/json.ts";

/** A ClusterRole that every cluster starts with. */
export interface BootstrapRole {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** It aggregates the rules of all ClusterRoles with this label. */
  readonly aggregates?: string;
  readonly rules?: readonly JsonObject[];
  /** The groups and users that are bound to it. */
  readonly toGroups?: readonly string[];
  readonly toUsers?: readonly string[];
}

const read = ["get", "list", "watch"];
const write = ["create", "delete", "deletecollection", "patch", "update"];
const readWrite = [...write, ...read].toSorted();

const on = (apiGroups: string | readonly string[], resources: string, verbs: readonly string[]): JsonObject => ({
  apiGroups: typeof apiGroups === "string" ? [apiGroups] : apiGroups,
  resources: resources.split(" ").toSorted(),
  verbs,
});
const paths = (...nonResourceURLs: readonly string[]): JsonObject => ({ nonResourceURLs, verbs: ["get"] });

const aggregateTo = (role: string) => `rbac.authorization.k8s.io/aggregate-to-${role}`;
const labelled = (role: string) => ({ [aggregateTo(role)]: "true" });

const rbac = "rbac.authorization.k8s.io";
const storage = "storage.k8s.io";
const leases = on("coordination.k8s.io", "leases", readWrite);
const events = (verbs: readonly string[]) => on(["", "events.k8s.io"], "events", verbs);

const view = [
  on(
    "",
    "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers " +
      "replicationcontrollers/scale serviceaccounts services services/status",
    read,
  ),
  on(
    "",
    "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas " +
      "resourcequotas/status",
    read,
  ),
  on("", "namespaces", read),
  events(read),
  on(
    "apps",
    "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets " +
      "replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
    read,
  ),
  on("policy", "poddisruptionbudgets poddisruptionbudgets/status", read),
];

const edit = [
  on("", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", read),
  on("", "serviceaccounts", ["impersonate"]),
  on("", "pods pods/attach pods/exec pods/portforward pods/proxy", write),
  on("", "pods/eviction", ["create"]),
  on(
    "",
    "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts " +
      "services services/proxy",
    write,
  ),
  on("", "serviceaccounts/token", ["create"]),
  events(write),
  on(
    "apps",
    "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets " +
      "statefulsets/scale",
    write,
  ),
  on("policy", "poddisruptionbudgets", write),
  leases,
];

const node = [
  on("authentication.k8s.io", "tokenreviews", ["create"]),
  on("authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews", ["create"]),
  on("", "services", read),
  on("", "nodes", ["create", "get", "list", "watch"]),
  on("", "nodes/status", ["patch", "update"]),
  on("", "nodes", ["patch", "update"]),
  on(["", "events.k8s.io"], "events", ["create", "patch", "update"]),
  on("", "pods", read),
  on("", "pods", ["create", "delete"]),
  on("", "pods/status", ["patch", "update"]),
  on("", "pods/eviction", ["create"]),
  on("", "configmaps secrets", read),
  on("", "persistentvolumeclaims persistentvolumes", ["get"]),
  on("coordination.k8s.io", "leases", ["create", "delete", "get", "patch", "update"]),
  on(storage, "volumeattachments", ["get"]),
  on("", "serviceaccounts/token", ["create"]),
  on("", "persistentvolumeclaims/status", ["get", "patch", "update"]),
  on(storage, "csidrivers", read),
  on(storage, "csinodes", ["create", "delete", "get", "patch", "update"]),
];

const scheduler = [
  events(["create", "patch", "update"]),
  on("coordination.k8s.io", "leases", ["create", "get", "list", "update", "watch"]),
  on("", "nodes namespaces", read),
  on("", "pods", ["delete", "get", "list", "watch"]),
  on("", "bindings pods/binding", ["create"]),
  on("", "pods/status", ["patch", "update"]),
  on("", "persistentvolumeclaims persistentvolumes", ["get", "list", "patch", "update", "watch"]),
  on("apps", "replicasets statefulsets", read),
  on("policy", "poddisruptionbudgets", read),
  on(storage, "csidrivers csinodes storageclasses volumeattachments", read),
];

/**
 * The bootstrap ClusterRoles that matter to machine management: for users (`admin`, `edit`, `view`), for every caller, and for
 * nodes and the scheduler. Source: Kubernetes documentation, "Using RBAC Authorization", default roles, and the list of a
 * kube-apiserver 1.35. Rules for API groups that this server does not serve are left out.
 */
export const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: "cluster-admin",
    toGroups: ["system:masters"],
    rules: [on("*", "*", ["*"]), { nonResourceURLs: ["*"], verbs: ["*"] }],
  },
  {
    name: "system:discovery",
    toGroups: ["system:authenticated"],
    rules: [
      paths(
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
      ),
    ],
  },
  {
    name: "system:basic-user",
    toGroups: ["system:authenticated"],
    rules: [
      on("authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", ["create"]),
      on("authentication.k8s.io", "selfsubjectreviews", ["create"]),
    ],
  },
  {
    name: "system:public-info-viewer",
    toGroups: ["system:authenticated", "system:unauthenticated"],
    rules: [paths("/healthz", "/livez", "/readyz", "/version", "/version/")],
  },
  {
    name: "system:monitoring",
    toGroups: ["system:monitoring"],
    rules: [
      paths("/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis", "/readyz", "/readyz/*"),
      on("", "nodes/metrics", ["get"]),
    ],
  },
  { name: "admin", aggregates: aggregateTo("admin") },
  { name: "edit", aggregates: aggregateTo("edit"), labels: labelled("admin") },
  { name: "view", aggregates: aggregateTo("view"), labels: labelled("edit") },
  {
    name: "system:aggregate-to-admin",
    labels: labelled("admin"),
    rules: [
      on("authorization.k8s.io", "localsubjectaccessreviews", ["create"]),
      on(rbac, "rolebindings roles", readWrite),
    ],
  },
  { name: "system:aggregate-to-edit", labels: labelled("edit"), rules: edit },
  { name: "system:aggregate-to-view", labels: labelled("view"), rules: view },
  { name: "system:node", rules: node },
  { name: "system:kube-scheduler", toUsers: ["system:kube-scheduler"], rules: scheduler },
  {
    name: "system:persistent-volume-provisioner",
    rules: [
      on("", "persistentvolumes", ["create", "delete", "get", "list", "watch"]),
      on("", "persistentvolumeclaims", ["get", "list", "update", "watch"]),
      on(storage, "storageclasses", read),
      on("", "events", ["watch"]),
      events(["create", "patch", "update"]),
    ],
  },
];
