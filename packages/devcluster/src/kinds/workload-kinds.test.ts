import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../json/json.ts";
import { startServer, type TestServer } from "../testing/start-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});

const apps = "/apis/apps/v1/namespaces/default";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};
const selector = { matchLabels: { app: "web" } };
const deployment = (spec: JsonObject = {}) => ({ metadata: { name: "web" }, spec: { selector, template, ...spec } });

test("a deployment gets the defaults of its kind and of its pods", async () => {
  const { code, body } = await server.call("POST", `${apps}/deployments`, deployment());
  expect(code).toBe(201);
  expect(body).toMatchObject({
    metadata: { generation: 1 },
    spec: {
      replicas: 1,
      strategy: { type: "RollingUpdate" },
      template: { spec: { restartPolicy: "Always", terminationGracePeriodSeconds: 30 } },
    },
  });
});

test.each([
  [{ selector: { matchLabels: { app: "other" } } }, "`selector` does not match template `labels`"],
  [{ selector: null }, "spec.selector: Required value"],
  [{ template: { metadata: template.metadata, spec: {} } }, "spec.template.spec.containers: Required value"],
])("a deployment with %j is invalid", async (spec, message) => {
  const { code, body } = await server.call("POST", `${apps}/deployments`, deployment(spec));
  expect(code).toBe(422);
  expect(body["message"]).toContain(message);
});

test("the selector of a workload is immutable", async () => {
  await server.call("POST", `${apps}/deployments`, deployment());
  const changed = deployment({
    selector: { matchLabels: { tier: "a" } },
    template: { ...template, metadata: { labels: { tier: "a" } } },
  });
  const { code, body } = await server.call("PUT", `${apps}/deployments/web`, changed);
  expect(code).toBe(422);
  expect(body["message"]).toContain("field is immutable");
});

test.each(["deployments", "replicasets", "statefulsets"])(
  "%s are read and scaled through their scale",
  async (plural) => {
    await server.call("POST", `${apps}/${plural}`, deployment({ serviceName: "web" }));
    const scaled = await server.call(
      "PATCH",
      `${apps}/${plural}/web/scale`,
      { spec: { replicas: 3 } },
      {
        "content-type": "application/merge-patch+json",
      },
    );
    expect(scaled).toMatchObject({
      code: 200,
      body: { kind: "Scale", spec: { replicas: 3 }, status: { replicas: 0, selector: "app=web" } },
    });
    expect((await server.call("GET", `${apps}/${plural}/web`)).body).toMatchObject({ spec: { replicas: 3 } });
  },
);

test("a pod is bound once", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, { metadata: { name: "p" }, spec: template.spec });
  const bind = (name: string) => server.call("POST", `${pods}/p/binding`, { target: { kind: "Node", name } });
  expect((await bind("")).code).toBe(500);
  expect((await bind("n1")).code).toBe(201);
  expect((await server.call("GET", `${pods}/p`)).body).toMatchObject({
    spec: { nodeName: "n1" },
    status: { conditions: [{ type: "PodScheduled", status: "True" }] },
  });
  expect(await bind("n2")).toMatchObject({
    code: 409,
    body: {
      message: `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"`,
    },
  });
});

test("a bound pod that is deleted keeps its grace period until its kubelet ends it", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, { metadata: { name: "p" }, spec: { ...template.spec, nodeName: "n1" } });
  const first = await server.call("DELETE", `${pods}/p`);
  expect(first.body).toMatchObject({ kind: "Pod", metadata: { deletionGracePeriodSeconds: 30 } });
  const deadline = (body: JsonObject) => Date.parse(JSON.parse(JSON.stringify(body)).metadata.deletionTimestamp);
  const shorter = await server.call("DELETE", `${pods}/p?gracePeriodSeconds=5`);
  expect(deadline(first.body) - deadline(shorter.body)).toBe(25_000);
  const longer = await server.call("DELETE", `${pods}/p?gracePeriodSeconds=60`);
  expect(longer.body["metadata"]).toEqual(shorter.body["metadata"]);
  expect((await server.call("DELETE", `${pods}/p?gracePeriodSeconds=0`)).code).toBe(200);
  expect((await server.call("GET", `${pods}/p`)).code).toBe(404);
});

test("role names need not be DNS names, and the role of a binding is immutable", async () => {
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
  const role = { metadata: { name: "system:pod-Reader" }, rules };
  expect((await server.call("POST", `${rbac}/clusterroles`, role)).code).toBe(201);
  expect((await server.call("POST", `${rbac}/clusterroles`, { metadata: { name: "a/b" }, rules })).code).toBe(422);
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:pod-Reader" };
  const binding = { metadata: { name: "b" }, roleRef, subjects: [{ kind: "User", name: "u" }] };
  expect((await server.call("POST", `${rbac}/clusterrolebindings`, binding)).code).toBe(201);
  const { code, body } = await server.call("PUT", `${rbac}/clusterrolebindings/b`, {
    ...binding,
    roleRef: { ...roleRef, name: "other" },
  });
  expect(code).toBe(422);
  expect(body["message"]).toContain("cannot change roleRef");
});

test("admission policies are stored", async () => {
  const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  const policy = { metadata: { name: "p" }, spec: { validations: [{ expression: "true" }] } };
  expect((await server.call("POST", path, policy)).code).toBe(201);
});
