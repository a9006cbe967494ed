import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiClient, loadKubeConfig, nodeResource } from "@millwright/kube";
import { expect, test } from "vitest";
import { createApiServer } from "../api-server.ts";
import { field, type JsonObject } from "../json/json.ts";
import { kubeconfigFor } from "../kubeconfig.ts";
import { startServer, type TestServer } from "../testing/start-server.ts";

const tokens = {
  root: { user: "root", groups: ["system:masters"] },
  jane: { user: "jane", groups: ["team"] },
  bot: { user: "system:serviceaccount:default:bot" },
};

const start = (authorization: "AlwaysAllow" | "RBAC"): Promise<TestServer> => startServer({ tokens, authorization });

const as = (token: string) => ({ authorization: `Bearer ${token}` });
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const pods = "/api/v1/namespaces/default/pods";

async function grant(api: TestServer, path: string, role: JsonObject, subject: JsonObject): Promise<void> {
  const kind = path.includes("namespaces") ? "Role" : "ClusterRole";
  const plural = `${kind.toLowerCase()}s`;
  const name = "granted";
  const answers = [
    await api.call("POST", `${path}/${plural}`, { metadata: { name }, rules: [role] }, as("root")),
    await api.call(
      "POST",
      `${path}/${kind.toLowerCase()}bindings`,
      { metadata: { name }, roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name }, subjects: [subject] },
      as("root"),
    ),
  ];
  expect(answers.map(({ code }) => code)).toEqual([201, 201]);
}

test("requests without a known token get health only", async () => {
  const api = await start("AlwaysAllow");
  expect(await api.call("GET", pods)).toMatchObject({ code: 401, body: { reason: "Unauthorized", status: "Failure" } });
  expect((await api.call("GET", pods, undefined, as("wrong"))).code).toBe(401);
  expect((await api.call("GET", "/metrics")).code).toBe(401);
  expect((await api.call("GET", "/millwright/faults")).code).toBe(401);
  expect((await api.call("GET", "/readyz")).code).toBe(200);
  expect((await api.call("GET", pods, undefined, as("jane"))).code).toBe(200);
  expect(api.server.requests.at(-1)).toMatchObject({ user: "jane", status: 200 });
});

test("RBAC denies what no role allows, with the message of kube-apiserver", async () => {
  const api = await start("RBAC");
  expect(await api.call("GET", `${pods}/p`, undefined, as("jane"))).toMatchObject({
    code: 403,
    body: {
      reason: "Forbidden",
      message: `pods "p" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "default"`,
      details: { name: "p", kind: "pods" },
    },
  });
  expect((await api.call("GET", "/api/v1/nodes", undefined, as("jane"))).body["message"]).toBe(
    `nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope`,
  );
  expect((await api.call("GET", "/metrics", undefined, as("jane"))).body["message"]).toBe(
    `forbidden: User "jane" cannot get path "/metrics"`,
  );
  expect((await api.call("GET", "/apis", undefined, as("jane"))).code).toBe(200);
  expect((await api.call("GET", "/api/v1/nodes", undefined, as("root"))).code).toBe(200);
  expect((await api.call("GET", "/api/v1/nodes")).code).toBe(403);
});

test("a role grants its rules, in its namespace, to groups and service accounts", async () => {
  const api = await start("RBAC");
  const role = { apiGroups: [""], resources: ["pods", "pods/eviction"], verbs: ["list", "create"] };
  await grant(api, `${rbac}/namespaces/default`, role, { kind: "Group", name: "team" });
  expect((await api.call("GET", pods, undefined, as("jane"))).code).toBe(200);
  expect((await api.call("GET", "/api/v1/namespaces/other/pods", undefined, as("jane"))).code).toBe(403);
  expect((await api.call("GET", "/api/v1/pods", undefined, as("jane"))).code).toBe(403);
  expect((await api.call("GET", `${pods}?watch=1`, undefined, as("jane"))).code).toBe(403);
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  expect((await api.call("POST", `${pods}/p/eviction`, eviction, as("jane"))).code).toBe(404);
  expect((await api.call("POST", `${pods}/p/binding`, {}, as("jane"))).code).toBe(403);
  await grant(
    api,
    rbac,
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get", "list"] },
    { kind: "ServiceAccount", namespace: "default", name: "bot" },
  );
  const maps = "/api/v1/namespaces/default/configmaps";
  expect((await api.call("GET", `${maps}/mine`, undefined, as("bot"))).code).toBe(404);
  expect((await api.call("GET", `${maps}/other`, undefined, as("bot"))).code).toBe(403);
  expect((await api.call("GET", `${maps}?fieldSelector=metadata.name%3Dmine`, undefined, as("bot"))).code).toBe(200);
  expect((await api.call("GET", maps, undefined, as("bot"))).code).toBe(403);
});

test("reviews return what the caller may do, and who the caller is", async () => {
  const api = await start("RBAC");
  const role = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
  await grant(api, `${rbac}/namespaces/default`, role, { kind: "User", name: "jane" });
  const review = async (kind: string, spec: JsonObject, token = "jane") => {
    const group = ["selfsubjectreviews", "tokenreviews"].includes(kind)
      ? "authentication.k8s.io"
      : "authorization.k8s.io";
    return (await api.call("POST", `/apis/${group}/v1/${kind}`, { spec }, as(token))).body;
  };
  const can = async (verb: string, namespace: string) =>
    field(
      (await review("selfsubjectaccessreviews", { resourceAttributes: { verb, namespace, resource: "pods" } }))[
        "status"
      ],
      "allowed",
    );
  expect(await can("list", "default")).toBe(true);
  expect(await can("delete", "default")).toBe(false);
  expect(await can("list", "other")).toBe(false);
  expect(await review("selfsubjectrulesreviews", { namespace: "default" })).toMatchObject({
    status: { resourceRules: expect.arrayContaining([role]) },
  });
  expect(await review("selfsubjectreviews", {})).toMatchObject({
    status: { userInfo: { username: "jane", groups: ["team", "system:authenticated"] } },
  });
  const ofJane = { user: "jane", resourceAttributes: { verb: "list", namespace: "default", resource: "pods" } };
  expect(await review("subjectaccessreviews", ofJane)).toMatchObject({ reason: "Forbidden" });
  expect(await review("subjectaccessreviews", ofJane, "root")).toMatchObject({ status: { allowed: true } });
  expect(await review("tokenreviews", { token: "jane" })).toMatchObject({ reason: "Forbidden" });
  expect(await review("tokenreviews", { token: "jane" }, "root")).toMatchObject({
    status: { authenticated: true, user: { username: "jane", groups: ["team", "system:authenticated"] } },
  });
  expect(await review("tokenreviews", { token: "john" }, "root")).toMatchObject({ status: { user: {} } });
});

test("TLS: clients that trust the authority of the kubeconfig are served, others are not", async () => {
  const secure = createApiServer({ tls: true, tokens });
  const { url, certificateAuthority = "" } = await secure.listen();
  const folder = mkdtempSync(join(tmpdir(), "devcluster-tls-"));
  try {
    expect(url).toMatch(/^https:/);
    const authority = new X509Certificate(certificateAuthority);
    expect(authority.ca).toBe(true);
    expect(authority.verify(authority.publicKey)).toBe(true);
    const file = join(folder, "kubeconfig");
    writeFileSync(file, kubeconfigFor(url, { certificateAuthority, token: "jane" }));
    const client = createApiClient(await loadKubeConfig({ file }), {});
    expect((await client.list(nodeResource)).items).toEqual([]);
    await client.close();
    const untrusting = new Promise((resolve, reject) => {
      request(`${url}/readyz`, resolve).on("error", reject).end();
    });
    await expect(untrusting).rejects.toThrow(/self-signed|unable to verify/);
  } finally {
    rmSync(folder, { recursive: true });
    await secure.close();
  }
});
