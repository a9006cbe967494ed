import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { beforeEach, expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";
import type { JsonObject } from "../json/json.ts";
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

test("a review has the reason of RBAC, and nothing is allowed without a role", async () => {
  await giveJane(pods);
  const review = async (verb: string) => {
    const spec = { user: "jane", resourceAttributes: { namespace: "default", verb, resource: "pods" } };
    const { body } = await call("root", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec });
    return body["status"];
  };
  expect(await review("get")).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "janes/default" of Role "janes" to User "jane"',
  });
  expect(await review("delete")).toEqual({ allowed: false });
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
