import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { beforeEach, expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";
import { arrayAt, at, type JsonObject } from "../json/json.ts";
import { kubeconfigFor } from "../kubeconfig.ts";
import { startServer, type TestServer } from "../testing/start-server.ts";

let api: TestServer;
beforeEach(async () => {
  api = await startServer({
    authorization: "RBAC",
    tokens: { root: { user: "root", groups: ["system:masters"] }, jane: { user: "jane", groups: ["team"] } },
  });
});

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const roles = `${rbac}/namespaces/default/roles`;
const bindings = `${rbac}/namespaces/default/rolebindings`;
const apiGroup = "rbac.authorization.k8s.io";
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
const call = (token: string, method: string, path: string, body?: JsonObject, headers: Record<string, string> = {}) =>
  api.call(method, path, body, { authorization: `Bearer ${token}`, ...headers });
const binding = (name: string, kind: string, role: string, user: string): JsonObject => ({
  metadata: { name },
  roleRef: { apiGroup, kind, name: role },
  subjects: [{ apiGroup, kind: "User", name: user }],
});

/** Gives jane a role with rules in the namespace default. */
async function giveJane(...rules: readonly JsonObject[]): Promise<void> {
  expect((await call("root", "POST", roles, { metadata: { name: "janes" }, rules })).code).toBe(201);
  expect((await call("root", "POST", bindings, binding("janes", "Role", "janes", "jane"))).code).toBe(201);
}

const manageRoles = {
  apiGroups: [apiGroup],
  resources: ["roles", "rolebindings"],
  verbs: ["create", "update", "patch", "get"],
};

test("a user cannot grant more by a role than they have, and the error lists the missing rules", async () => {
  await giveJane(manageRoles, pods);
  expect((await call("jane", "POST", roles, { metadata: { name: "less" }, rules: [pods] })).code).toBe(201);
  const more = {
    metadata: { name: "more" },
    rules: [
      { ...pods, verbs: ["get", "delete", "watch"] },
      { apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["web"], verbs: ["get"] },
    ],
  };
  expect(await call("jane", "POST", roles, more)).toMatchObject({
    code: 403,
    body: {
      reason: "Forbidden",
      message:
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["team" "system:authenticated"]) is attempting ' +
        'to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}\n' +
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["web"], Verbs:["get"]}',
    },
  });
  const patch = { rules: [{ ...pods, verbs: ["*"] }] };
  const merge = { "content-type": "application/merge-patch+json" };
  expect((await call("jane", "PATCH", `${roles}/less`, patch, merge)).code).toBe(403);
  const labels = { metadata: { labels: { a: "b" } } };
  expect((await call("jane", "PATCH", `${roles}/less`, labels, merge)).code).toBe(200);
  expect((await call("root", "POST", roles, more)).code).toBe(201);
  // What jane does not have she cannot touch either, but for what the garbage collector would.
  expect((await call("jane", "PATCH", `${roles}/more`, labels, merge)).code).toBe(403);
  const finalizers = { metadata: { finalizers: ["example.io/a"] } };
  expect((await call("jane", "PATCH", `${roles}/more`, finalizers, merge)).code).toBe(200);
});

test("a user who may escalate roles of a kind may grant anything by them", async () => {
  await giveJane(manageRoles, { apiGroups: [apiGroup], resources: ["roles"], verbs: ["escalate"] });
  const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
  expect((await call("jane", "POST", roles, { metadata: { name: "all" }, rules: [all] })).code).toBe(201);
  expect((await call("jane", "POST", bindings, binding("all", "Role", "all", "jane"))).code).toBe(403);
});

test("users who have the rules of a role, or may bind it, can bind it; a missing role cannot be bound", async () => {
  await giveJane(manageRoles, {
    apiGroups: [apiGroup],
    resources: ["clusterroles"],
    resourceNames: ["view"],
    verbs: ["bind"],
  });
  expect((await call("jane", "POST", bindings, binding("view", "ClusterRole", "view", "tom"))).code).toBe(201);
  const rejected = await call("jane", "POST", bindings, binding("edit", "ClusterRole", "edit", "tom"));
  expect(rejected).toMatchObject({ code: 403 });
  expect(rejected.body["message"]).toContain('{APIGroups:[""], Resources:["pods/eviction"], Verbs:["create"]}');
  expect((await call("jane", "POST", bindings, binding("none", "Role", "none", "tom"))).body["message"]).toBe(
    'rolebindings.rbac.authorization.k8s.io "none" not found',
  );
});

test("bootstrap roles: an editor writes, a viewer reads, and neither reads secrets of others nor grants more than it has", async () => {
  await call("root", "POST", bindings, binding("tom-edits", "ClusterRole", "edit", "tom"));
  await call("root", "POST", bindings, binding("ann-views", "ClusterRole", "view", "ann"));
  const can = async (user: string, verb: string, resource: string): Promise<boolean> => {
    const spec = { user, resourceAttributes: { namespace: "default", verb, resource } };
    const { body } = await call("root", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec });
    return at(body, "status", "allowed") === true;
  };
  expect(
    await Promise.all([can("tom", "create", "pods"), can("tom", "get", "secrets"), can("tom", "get", "pods")]),
  ).toEqual([true, true, true]);
  expect(
    await Promise.all([can("ann", "get", "pods"), can("ann", "get", "secrets"), can("ann", "create", "pods")]),
  ).toEqual([true, false, false]);
  expect(await can("tom", "list", "nodes")).toBe(false);
  const why = { user: "ann", resourceAttributes: { namespace: "default", verb: "get", resource: "pods" } };
  const { body } = await call("root", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec: why });
  expect(at(body, "status", "reason")).toBe(
    'RBAC: allowed by RoleBinding "ann-views/default" of ClusterRole "view" to User "ann"',
  );
});

test("an aggregated role follows the rules of the selected roles", async () => {
  const clusterRoles = `${rbac}/clusterroles`;
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { "example.io/to": "sum" } }] };
  await call("root", "POST", clusterRoles, { metadata: { name: "sum" }, aggregationRule });
  const rules = async () => arrayAt((await call("root", "GET", `${clusterRoles}/sum`)).body, "rules");
  const part = (name: string, rule: JsonObject): JsonObject => ({
    metadata: { name, labels: { "example.io/to": "sum" } },
    rules: [rule],
  });
  const nodes = { apiGroups: [""], resources: ["nodes"], verbs: ["get"] };
  await call("root", "POST", clusterRoles, part("b", pods));
  await call("root", "POST", clusterRoles, part("a", nodes));
  await call("root", "POST", clusterRoles, part("c", nodes));
  await expect.poll(rules).toEqual([nodes, pods]);
  await call("root", "DELETE", `${clusterRoles}/b`);
  await expect.poll(rules).toEqual([nodes]);
  expect((await call("root", "GET", `${clusterRoles}/sum`)).body).toMatchObject({ aggregationRule });
  await giveJane(manageRoles);
  await call("root", "POST", `${rbac}/clusterrolebindings`, {
    ...binding("jane-makes-roles", "ClusterRole", "jane-makes-roles", "jane"),
  });
  await call("root", "POST", clusterRoles, {
    metadata: { name: "jane-makes-roles" },
    rules: [{ apiGroups: [apiGroup], resources: ["clusterroles"], verbs: ["create"] }],
  });
  expect(
    (await call("jane", "POST", clusterRoles, { metadata: { name: "janes-sum" }, aggregationRule })).body["message"],
  ).toBe(
    'clusterroles.rbac.authorization.k8s.io "janes-sum" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  );
});

test("only users with the verb impersonate make requests as another user", async () => {
  const review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const asTom = { "impersonate-user": "tom", "impersonate-group": "ops" };
  expect((await call("root", "POST", review, {}, asTom)).body).toMatchObject({
    status: { userInfo: { username: "tom", groups: ["ops", "system:authenticated"] } },
  });
  const account = { "impersonate-user": "system:serviceaccount:default:bot", "impersonate-extra-scopes": "view" };
  expect((await call("root", "POST", review, {}, account)).body).toMatchObject({
    status: {
      userInfo: {
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        extra: { scopes: ["view"] },
      },
    },
  });
  const masters = { "impersonate-user": "tom", "impersonate-group": "system:masters" };
  expect((await call("jane", "POST", review, {}, masters)).body).toMatchObject({
    code: 403,
    message:
      'users "tom" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
  });
  await giveJane({ apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] });
  expect(
    (await call("jane", "POST", review, {}, { "impersonate-user": "system:serviceaccount:default:bot" })).code,
  ).toBe(201);
  expect((await call("jane", "POST", review, {}, account)).code).toBe(403);
  expect((await call("root", "POST", review, {}, { "impersonate-group": "ops" })).code).toBe(400);
  expect((await call("root", "GET", "/api/v1/nodes", undefined, asTom)).code).toBe(403);
  expect(api.server.requests.at(-1)).toMatchObject({ user: "tom", status: 403 });
});

test("the common name of a client certificate is the user, its organizations are the groups", async () => {
  const server = createApiServer({ tls: true, tokens: {}, authorization: "RBAC" });
  const folder = mkdtempSync(join(tmpdir(), "devcluster-certificates-"));
  try {
    await expect(server.issueClientCertificate({ user: "early" })).rejects.toThrow(/tls: true/);
    const { url, certificateAuthority } = await server.listen();
    const review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const whoIs = async (user: string, groups: readonly string[]): Promise<unknown> => {
      const clientCertificate = await server.issueClientCertificate({ user, groups });
      const file = join(folder, "kubeconfig");
      writeFileSync(file, kubeconfigFor(url, { certificateAuthority, clientCertificate }));
      const client = createApiClient(await loadKubeConfig({ file }), {});
      try {
        return (await client.request({ method: "POST", path: review, body: {} })).body;
      } finally {
        await client.close();
      }
    };
    expect(await whoIs("kate, the admin", ["system:masters", "team=a"])).toMatchObject({
      status: {
        userInfo: { username: "kate, the admin", groups: ["system:masters", "team=a", "system:authenticated"] },
      },
    });
    expect(await whoIs("no-groups", [])).toMatchObject({ status: { userInfo: { groups: ["system:authenticated"] } } });

    const statusOf = (agent: Agent): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request(`${url}/api/v1/nodes`, { agent }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on("error", reject)
          .end();
      });
    const other = createApiServer({ tls: true });
    await other.listen();
    const foreign = await other.issueClientCertificate({ user: "kate", groups: ["system:masters"] });
    await other.close();
    const trust = { ca: certificateAuthority };
    expect(await statusOf(new Agent({ ...trust, cert: foreign.certificatePem, key: foreign.keyPem }))).toBe(401);
    expect(await statusOf(new Agent(trust))).toBe(403);
  } finally {
    rmSync(folder, { recursive: true });
    await server.close();
  }
});
