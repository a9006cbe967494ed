import { beforeEach, expect, test } from "vitest";
import { arrayAt, at, type JsonObject, stringAt } from "../json/json.ts";
import { startWidgetServer, type TestAnswer, type TestServer, widget, widgetsPath } from "../testing/start-server.ts";

const merge = { "content-type": "application/merge-patch+json" };
let api: TestServer;

beforeEach(async () => {
  api = await startWidgetServer();
});

function apply(manager: string, object: JsonObject, query = ""): Promise<TestAnswer> {
  const name = stringAt(object, "metadata", "name") ?? "";
  const headers = { "content-type": "application/apply-patch+yaml" };
  return api.call("PATCH", `${widgetsPath}/${name}?fieldManager=${manager}${query}`, object, headers);
}

function managers(object: JsonObject): readonly string[] {
  return arrayAt(object, "metadata", "managedFields").map(
    (entry) => `${stringAt(entry, "manager")} ${stringAt(entry, "operation")}`,
  );
}

test("creates a missing object and owns exactly the applied fields", async () => {
  const created = await apply("one", widget("a", { replicas: 2 }, { labels: { x: "1" } }));
  expect(created.code).toBe(201);
  expect(created.body).toMatchObject({
    metadata: {
      managedFields: [
        {
          manager: "one",
          operation: "Apply",
          apiVersion: "example.io/v1",
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:metadata": { "f:labels": { "f:x": {} } },
            "f:spec": { "f:replicas": {}, "f:size": {} },
          },
        },
      ],
    },
  });
});

test("does not write when nothing changes", async () => {
  const first = await apply("one", widget("a", { parts: [{ name: "p", count: 1 }] }));
  const second = await apply("one", widget("a", { parts: [{ name: "p", count: 1 }] }));
  expect(second.code).toBe(200);
  expect(second.body).toEqual(first.body);
});

test("removes the fields that its manager dropped, and no others", async () => {
  await apply("one", widget("a", { note: "hi", tags: ["x", "y"], parts: [{ name: "p" }, { name: "q" }] }));
  await apply("two", widget("a", { tags: ["z"], parts: [{ name: "q", count: 1 }, { name: "r" }] }));
  const { body } = await apply("one", widget("a", { tags: ["y"], parts: [{ name: "p" }] }));
  expect(body["spec"]).toEqual({
    size: "small",
    replicas: 1,
    tags: ["y", "z"],
    parts: [
      { name: "p", count: 1 },
      { name: "q", count: 1 },
      { name: "r", count: 1 },
    ],
  });
});

test("conflicts on a field of another manager, and takes it over with force", async () => {
  await apply("one", widget("a", { replicas: 1 }));
  await api.call("PATCH", `${widgetsPath}/a?fieldManager=scaler`, { spec: { replicas: 5 } }, merge);
  const rejected = await apply("one", widget("a", { replicas: 2 }));
  expect(rejected).toMatchObject({
    code: 409,
    body: {
      reason: "Conflict",
      details: { causes: [{ reason: "FieldManagerConflict", field: ".spec.replicas" }] },
    },
  });
  expect(rejected.body["message"]).toMatch(
    /^Apply failed with 1 conflict: conflict with "scaler" using example\.io\/v1: \.spec\.replicas$/,
  );
  const forced = await apply("one", widget("a", { replicas: 2 }), "&force=true");
  expect(forced.body).toMatchObject({ spec: { replicas: 2 } });
  expect(managers(forced.body)).toEqual(["one Apply"]);
});

test("lets two managers own an equal value, which stays when one of them drops it", async () => {
  await apply("one", widget("a", { note: "hi" }));
  await apply("two", widget("a", { note: "hi" }));
  const left = await apply("one", widget("a"));
  expect(left.body).toMatchObject({ spec: { note: "hi" } });
  const gone = await apply("two", widget("a"));
  expect(at(gone.body, "spec", "note")).toBeUndefined();
});

test("records ordinary writes with the fields that they changed", async () => {
  await api.call("POST", `${widgetsPath}?fieldManager=maker`, widget("a"));
  await api.call("PATCH", `${widgetsPath}/a/status?fieldManager=server`, { status: { phase: "On" } }, merge);
  const { body } = await api.call("GET", `${widgetsPath}/a`);
  expect(arrayAt(body, "metadata", "managedFields")).toMatchObject([
    { manager: "maker", operation: "Update", fieldsV1: { "f:spec": { "f:replicas": {}, "f:size": {} } } },
    { manager: "server", subresource: "status", fieldsV1: { "f:status": { "f:phase": {} } } },
  ]);
});

test("applies status through its subresource only", async () => {
  await apply("one", widget("a"));
  const headers = { "content-type": "application/apply-patch+yaml" };
  const main = await apply("one", { ...widget("a"), status: { phase: "Sneaky" } });
  expect(main.body["status"]).toBeUndefined();
  const path = `${widgetsPath}/a/status?fieldManager=ctl`;
  const yaml = "apiVersion: example.io/v1\nkind: Widget\nmetadata:\n  name: a\nstatus:\n  phase: 'On'\n";
  expect((await api.call("PATCH", path, yaml, headers)).body).toMatchObject({
    status: { phase: "On" },
    spec: { size: "small" },
  });
});

test("merges the oldest of many managers", async () => {
  await api.call("POST", widgetsPath, widget("a"));
  for (let count = 0; count < 30; count += 1) {
    await api.call(
      "PATCH",
      `${widgetsPath}/a?fieldManager=m${count}`,
      { metadata: { labels: { [`l${count}`]: "x" } } },
      merge,
    );
  }
  const { body } = await api.call("GET", `${widgetsPath}/a`);
  expect(managers(body).length).toBeLessThanOrEqual(10);
  expect(managers(body)).toContain("ancient-changes Update");
});

test("requires a field manager, apiVersion and kind", async () => {
  expect((await apply("", widget("a"))).code).toBe(422);
  expect((await apply("one", { metadata: { name: "a" } })).code).toBe(400);
});
