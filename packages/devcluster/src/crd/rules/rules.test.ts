import { beforeEach, expect, test } from "vitest";
import { arrayAt, field, type Json, type JsonObject, stringAt } from "../../json/json.ts";
import { crdsPath, startServer, type TestAnswer, type TestServer, versionOf } from "../../testing/start-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});

const path = "/apis/example.io/v1/namespaces/default/gadgets";

async function serve(spec: JsonObject, more: readonly JsonObject[] = []): Promise<TestAnswer> {
  const answer = await server.call("POST", crdsPath, {
    metadata: { name: "gadgets.example.io" },
    spec: {
      group: "example.io",
      scope: "Namespaced",
      names: { plural: "gadgets", kind: "Gadget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", ...spec } } } },
        },
        ...more,
      ],
    },
  });
  return answer;
}

const gadget = (spec: JsonObject, resourceVersion?: string): JsonObject => ({
  apiVersion: "example.io/v1",
  kind: "Gadget",
  metadata: { name: "g", ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  spec,
});

const create = (spec: JsonObject) => server.call("POST", path, gadget(spec));

async function update(spec: JsonObject): Promise<TestAnswer> {
  const { body } = await server.call("GET", `${path}/g`);
  return server.call("PUT", `${path}/g`, gadget(spec, versionOf(body)));
}

const causesOf = ({ body }: TestAnswer): readonly Json[] => arrayAt(body, "details", "causes");
const firstCause = (answer: TestAnswer): Json | undefined => causesOf(answer)[0];

const sizes = { min: { type: "integer" }, max: { type: "integer" } };

test("an object that violates a rule is invalid, with the message of Kubernetes", async () => {
  await serve({
    properties: sizes,
    "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min must not exceed max" }],
  });
  expect((await create({ min: 1, max: 2 })).code).toBe(201);
  const rejected = await server.call("POST", path, { ...gadget({ min: 3, max: 2 }), metadata: { name: "h" } });
  expect(rejected.code).toBe(422);
  expect(rejected.body["message"]).toBe(
    'Gadget.example.io "h" is invalid: spec: Invalid value: min must not exceed max',
  );
  expect(firstCause(rejected)).toMatchObject({ reason: "FieldValueInvalid", field: "spec" });
});

test.each([
  [{ rule: "self.min < 3" }, "spec: Invalid value: failed rule: self.min < 3"],
  [{ rule: "self.min < 3", message: "m" }, "spec: Invalid value: m"],
  [{ rule: "self.none == 1", message: "m" }, 'spec: Invalid value: "object": no such key: none evaluating rule: m'],
])("%j has the message %s", async (rule, message) => {
  await serve({
    properties: { ...sizes, none: { type: "integer" } },
    "x-kubernetes-validations": [rule],
  });
  const { code, body } = await create({ min: 3 });
  expect(code).toBe(422);
  expect(body["message"]).toBe(`Gadget.example.io "g" is invalid: ${message}`);
});

test("a transition rule runs on updates only", async () => {
  await serve({
    properties: {
      class: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }] },
    },
  });
  expect((await create({ class: "a" })).code).toBe(201);
  expect((await update({ class: "a" })).code).toBe(200);
  const rejected = await update({ class: "b" });
  expect(firstCause(rejected)).toEqual({
    reason: "FieldValueInvalid",
    message: 'Invalid value: "b": fixed',
    field: "spec.class",
  });
  expect((await update({})).code).toBe(200);
});

test("a stored value may stay when a rule is added later", async () => {
  await serve({ properties: { ...sizes, note: { type: "string" } } });
  await create({ min: 5 });
  const { body: crd } = await server.call("GET", `${crdsPath}/gadgets.example.io`);
  const ruled = JSON.parse(JSON.stringify(crd));
  const { spec } = ruled.spec.versions[0].schema.openAPIV3Schema.properties;
  spec.properties.min["x-kubernetes-validations"] = [{ rule: "self < 3" }];
  expect((await server.call("PUT", `${crdsPath}/gadgets.example.io`, ruled)).code).toBe(200);
  expect((await update({ min: 5, note: "changed" })).code).toBe(200);
  expect((await update({ min: 6 })).code).toBe(422);
});

test("rules do not run on an object that does not fit the schema", async () => {
  await serve({ properties: sizes, required: ["max"], "x-kubernetes-validations": [{ rule: "self.min < self.max" }] });
  const causes = causesOf(await create({ min: 3 }));
  expect(causes.map((cause) => field(cause, "field"))).toEqual(["spec.max", "<nil>"]);
});

test.each([
  ["self.min <", "compilation failed"],
  ["", "rule is not specified"],
  ["1 + 1", "must evaluate to a bool"],
  ["unknownFunction(self)", "compilation failed"],
])("a CRD with the rule %j is invalid", async (rule, message) => {
  const { code, body } = await serve({ properties: sizes, "x-kubernetes-validations": [{ rule }] });
  expect(code).toBe(422);
  expect(body["message"]).toContain(message);
  expect(body["message"]).toContain(
    "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]",
  );
});

test("items of sets and map lists are unique", async () => {
  await serve({
    properties: {
      tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      parts: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      },
    },
  });
  const causes = causesOf(await create({ tags: ["a", "b", "a"], parts: [{ name: "x" }, { name: "x" }] }));
  expect(causes).toEqual([
    { reason: "FieldValueDuplicate", message: 'Duplicate value: "a"', field: "spec.tags[2]" },
    { reason: "FieldValueDuplicate", message: expect.stringContaining("Duplicate value"), field: "spec.parts[1]" },
  ]);
});

test("every served version reads and writes the same objects", async () => {
  const schema = {
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: sizes } } },
  };
  await serve({ properties: sizes }, [{ name: "v2", served: true, storage: false, schema }]);
  const newer = path.replace("/v1/", "/v2/");
  await create({ min: 1 });
  const { body } = await server.call("GET", `${newer}/g`);
  expect(body).toMatchObject({ apiVersion: "example.io/v2", spec: { min: 1 } });
  const changed = await server.call("PUT", `${newer}/g`, { ...body, spec: { min: 2 } });
  expect(stringAt(changed.body, "apiVersion")).toBe("example.io/v2");
  expect((await server.call("GET", `${path}/g`)).body).toMatchObject({ apiVersion: "example.io/v1", spec: { min: 2 } });
  const watch = server.watch(`${newer}?watch=1`);
  expect(await watch.next()).toMatchObject({ object: { apiVersion: "example.io/v2" } });
  watch.close();
});
