import { beforeEach, expect, test } from "vitest";
import { at, objectAt, withField } from "../json/json.ts";
import {
  crdsPath,
  startWidgetServer,
  type TestServer,
  widget,
  widgetCrd,
  widgetsPath,
} from "../testing/start-server.ts";

const merge = { "content-type": "application/merge-patch+json" };
let api: TestServer;

beforeEach(async () => {
  api = await startWidgetServer();
});

test("is established and served at once", async () => {
  const { body } = await api.call("GET", `${crdsPath}/widgets.example.io`);
  expect(body).toMatchObject({
    spec: { names: { singular: "widget", listKind: "WidgetList" } },
    status: {
      conditions: [
        { type: "NamesAccepted", status: "True" },
        { type: "Established", status: "True" },
      ],
      storedVersions: ["v1"],
    },
  });
  expect((await api.call("POST", widgetsPath, widget("a"))).code).toBe(201);
  const discovery = await api.call("GET", "/apis/example.io/v1");
  expect(discovery.body["resources"]).toMatchObject([
    { name: "widgets", shortNames: ["wd"] },
    { name: "widgets/scale", group: "autoscaling", kind: "Scale" },
    { name: "widgets/status" },
  ]);
});

test("applies defaults and drops unknown fields, with a warning", async () => {
  const created = await api.call(
    "POST",
    widgetsPath,
    widget("a", { bogus: 1, raw: { any: 1 }, parts: [{ name: "p" }] }),
  );
  expect(created.body["spec"]).toEqual({
    size: "small",
    replicas: 1,
    raw: { any: 1 },
    parts: [{ name: "p", count: 1 }],
  });
  expect(created.headers.get("warning")).toBe('299 - "unknown field \\"spec.bogus\\""');
  expect(await api.call("POST", `${widgetsPath}?fieldValidation=Strict`, widget("b", { bogus: 1 }))).toMatchObject({
    code: 400,
    body: {
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.bogus"',
    },
  });
});

test.each([
  [
    { replicas: "x" },
    'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
  ],
  [{ replicas: -1 }, "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0"],
  [{ size: null }, "spec.size: Required value"],
  [{ size: "huge" }, 'spec.size: Unsupported value: "huge": supported values: "small", "large"'],
  [{ parts: [{}] }, "spec.parts[0].name: Required value"],
  [{ tags: ["a", "a"] }, 'spec.tags[1]: Duplicate value: "a"'],
  [{ note: "toolong" }, "spec.note: Too long: may not be more than 5 bytes"],
  [{ note: "A" }, "spec.note: Invalid value: \"A\": spec.note in body should match '^[a-z]*$'"],
  [
    { surge: true },
    'spec.surge: Invalid value: "boolean": spec.surge in body must be of type integer,string: "boolean"',
  ],
])("rejects %j with the message of Kubernetes", async (spec, text) => {
  const answer = await api.call("POST", widgetsPath, widget("a", spec));
  expect(answer.code).toBe(422);
  expect(answer.body["message"]).toContain(`Widget.example.io "a" is invalid: `);
  expect(answer.body["message"]).toContain(text);
});

test("accepts what the schema allows in two ways", async () => {
  for (const spec of [{ surge: 1 }, { surge: "25%" }, { note: null }]) {
    expect((await api.call("POST", `${widgetsPath}?dryRun=All`, widget("a", spec))).code).toBe(201);
  }
});

test("separates status and spec, and counts generations of the spec only", async () => {
  const created = await api.call("POST", widgetsPath, { ...widget("a"), status: { phase: "Sneaky" } });
  expect(created.body["status"]).toBeUndefined();
  const status = await api.call(
    "PATCH",
    `${widgetsPath}/a/status`,
    { spec: { size: "large" }, status: { phase: "On" } },
    merge,
  );
  expect(status.body).toMatchObject({ spec: { size: "small" }, status: { phase: "On" }, metadata: { generation: 1 } });
  const spec = await api.call(
    "PATCH",
    `${widgetsPath}/a`,
    { spec: { size: "large" }, status: { phase: "Off" } },
    merge,
  );
  expect(spec.body).toMatchObject({ spec: { size: "large" }, status: { phase: "On" }, metadata: { generation: 2 } });
  const labels = await api.call("PATCH", `${widgetsPath}/a`, { metadata: { labels: { a: "b" } } }, merge);
  expect(labels.body).toMatchObject({ metadata: { generation: 2, labels: { a: "b" } } });
});

test("requires a resourceVersion in a replace", async () => {
  const { body } = await api.call("POST", widgetsPath, widget("a"));
  const bare = withField(body, ["metadata", "resourceVersion"], undefined);
  expect((await api.call("PUT", `${widgetsPath}/a`, bare)).body).toMatchObject({
    message:
      'widgets.example.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  });
  expect((await api.call("PUT", `${widgetsPath}/a`, body)).code).toBe(200);
});

test("reads and writes replicas through the scale subresource", async () => {
  await api.call("POST", widgetsPath, widget("a"));
  expect((await api.call("GET", `${widgetsPath}/a/scale`)).body).toMatchObject({
    kind: "Scale",
    spec: { replicas: 1 },
  });
  const patched = await api.call("PATCH", `${widgetsPath}/a/scale`, { spec: { replicas: 3 } }, merge);
  expect(patched.body).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 0 } });
  const { body } = await api.call("GET", `${widgetsPath}/a/scale`);
  const stale = withField(body, ["metadata", "resourceVersion"], "1");
  expect((await api.call("PUT", `${widgetsPath}/a/scale`, stale)).code).toBe(409);
  expect((await api.call("PUT", `${widgetsPath}/a/scale`, withField(body, ["spec", "replicas"], 5))).code).toBe(200);
  expect((await api.call("GET", `${widgetsPath}/a`)).body).toMatchObject({ spec: { replicas: 5 } });
});

test("rejects strategic merge patch", async () => {
  await api.call("POST", widgetsPath, widget("a"));
  const strategic = { "content-type": "application/strategic-merge-patch+json" };
  const answer = await api.call("PATCH", `${widgetsPath}/a`, { spec: {} }, strategic);
  expect(answer.code).toBe(415);
  expect(answer.body["message"]).toContain("accepted media types include: application/json-patch+json");
});

test("prints the columns of the CRD", async () => {
  await api.call("POST", widgetsPath, widget("a"));
  const { body } = await api.call("GET", widgetsPath, undefined, {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  });
  expect(body).toMatchObject({
    kind: "Table",
    columnDefinitions: [{ name: "Name" }, { name: "Phase" }, { name: "Replicas", priority: 1 }],
    rows: [{ cells: ["a", null, 1], object: { kind: "PartialObjectMetadata", metadata: { name: "a" } } }],
  });
});

test("describes itself for explain and for server-side validation", async () => {
  const { body } = await api.call("GET", "/openapi/v3/apis/example.io/v1");
  const schema = objectAt(body, "components", "schemas", "io.example.v1.Widget");
  expect(schema).toMatchObject({ "x-kubernetes-group-version-kind": [{ kind: "Widget" }] });
  const path = objectAt(body, "paths", "/apis/example.io/v1/namespaces/{namespace}/widgets/{name}", "patch");
  expect(path["parameters"]).toContainEqual(expect.objectContaining({ name: "fieldValidation" }));
});

test("deletes its objects when it is deleted", async () => {
  await api.call("POST", widgetsPath, widget("a", {}, { finalizers: ["x.io/hold"] }));
  await api.call("DELETE", `${crdsPath}/widgets.example.io`);
  expect((await api.call("GET", `${crdsPath}/widgets.example.io`)).code).toBe(200);
  await expect
    .poll(async () => at((await api.call("GET", `${widgetsPath}/a`)).body, "metadata", "deletionTimestamp"))
    .toBeTypeOf("string");
  await api.call("PATCH", `${widgetsPath}/a`, { metadata: { finalizers: [] } }, merge);
  await expect.poll(async () => (await api.call("GET", `${crdsPath}/widgets.example.io`)).code).toBe(404);
  expect((await api.call("GET", widgetsPath)).code).toBe(404);
});

test.each([
  ["pattern", { pattern: "^([a-z]+)+$" }],
  ["rule", { "x-kubernetes-validations": [{ rule: "self.matches('^([a-z]+)+$')" }] }],
])("a %s for which JavaScript would match for ever rejects a value at once", async (_, part) => {
  await api.call("DELETE", `${crdsPath}/widgets.example.io`);
  await expect.poll(async () => (await api.call("GET", `${crdsPath}/widgets.example.io`)).code).toBe(404);
  const note = '"maxLength":5,"pattern":"^[a-z]*$"';
  const crd = JSON.stringify(widgetCrd).replace(note, () => `"maxLength":99,${JSON.stringify(part).slice(1, -1)}`);
  expect((await api.call("POST", crdsPath, JSON.parse(crd))).code).toBe(201);
  expect((await api.call("POST", widgetsPath, widget("a", { note: `${"a".repeat(60)}?` }))).code).toBe(422);
});

test("reports the errors of a CRD", async () => {
  const broken = withField(widgetCrd, ["metadata", "name"], "other.example.io");
  expect((await api.call("POST", crdsPath, broken)).body["message"]).toContain(
    'must be spec.names.plural+"."+spec.group',
  );
  expect((await api.call("POST", crdsPath, withField(widgetCrd, ["spec", "versions"], []))).code).toBe(422);
});
