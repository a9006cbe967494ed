import { get, getUntil, type Json, type JsonObject, post, subject } from "../request-script.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const roles = `${rbac}/namespaces/{ns}/roles`;
const bindings = `${rbac}/namespaces/{ns}/rolebindings`;
const clusterRoles = `${rbac}/clusterroles`;
const apiGroup = "rbac.authorization.k8s.io";
const asJane = { "Impersonate-User": "compat-jane", "Impersonate-Group": "compat-team" };
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };

const role = (name: string, ...rules: readonly JsonObject[]): JsonObject => ({
  apiVersion: `${apiGroup}/v1`,
  kind: "Role",
  metadata: { name },
  rules,
});
const clusterRole = (name: string, content: JsonObject, labels: JsonObject = {}): JsonObject => ({
  apiVersion: `${apiGroup}/v1`,
  kind: "ClusterRole",
  metadata: { name, labels },
  ...content,
});
const binding = (name: string, kind: string, to: string): JsonObject => ({
  apiVersion: `${apiGroup}/v1`,
  kind: "RoleBinding",
  metadata: { name },
  roleRef: { apiGroup, kind, name: to },
  subjects: [{ apiGroup, kind: "User", name: "compat-jane" }],
});
const review = (name: string, spec: Json, headers = asJane) =>
  post(
    name,
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec },
    headers,
  );
const whoAmI = (name: string, headers: Readonly<Record<string, string>>) =>
  post(
    name,
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    headers,
  );
const attributes = (verb: string, resource: string): JsonObject => ({
  resourceAttributes: { namespace: "{ns}", verb, resource },
});

/** RBAC, with an impersonated user who has few permissions. */
export const access = subject("access", [
  whoAmI("a user", asJane),
  whoAmI("a service account", { "Impersonate-User": "system:serviceaccount:default:bot" }),
  whoAmI("anonymous", { "Impersonate-User": "system:anonymous" }),
  whoAmI("with a uid and more", {
    ...asJane,
    "Impersonate-Uid": "1234",
    "Impersonate-Extra-Scopes": "view",
  }),
  get("without permissions", "/api/v1/namespaces/{ns}/pods", asJane),
  get("one without permissions", "/api/v1/namespaces/{ns}/pods/p", asJane),
  get("a subresource without permissions", "/api/v1/nodes/n/status", asJane),
  get("a path without permissions", "/metrics", asJane),
  get("discovery needs no permissions", "/apis/rbac.authorization.k8s.io", asJane),
  post("a role without permissions", roles, role("early", pods), asJane),
  post("permissions to see pods", roles, role("janes", pods)),
  post("a binding of them", bindings, binding("janes", "Role", "janes")),
  getUntil("they are there", "/api/v1/namespaces/{ns}/pods", (status) => status === 200),
  review("may list pods", attributes("list", "pods")),
  review("may not delete pods", attributes("delete", "pods")),
  post(
    "a cluster role with little",
    clusterRoles,
    clusterRole("compat-nodes", { rules: [{ ...pods, resources: ["nodes"] }] }),
  ),
  post("the review of another user", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: "compat-jane", ...attributes("get", "pods") },
  }),
  post(
    "the review of another user without permissions",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: "compat-jane", ...attributes("get", "pods") },
    },
    asJane,
  ),
  post("a review of nothing", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: {},
  }),
  whoAmI("a user who may not impersonate", { ...asJane, "Impersonate-User": "compat-jane" }),
]);
