import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../json/json.ts";
import { crdsPath, startServer, type TestServer } from "../testing/start-server.ts";

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
});

const text = { type: "string" };

async function define(properties: JsonObject, version: JsonObject = {}, names: JsonObject = {}): Promise<unknown> {
  const schema = { openAPIV3Schema: { type: "object", properties } };
  const { code, body } = await api.call("POST", `${crdsPath}?dryRun=All`, {
    metadata: { name: "as.example.io" },
    spec: {
      group: "example.io",
      scope: "Namespaced",
      names: { plural: "as", kind: "A", ...names },
      versions: [{ name: "v1", served: true, storage: true, schema, ...version }],
    },
  });
  return code === 201 ? "accepted" : body["message"];
}

test("accepts a structural schema", async () => {
  const either = { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };
  const item = { type: "object", required: ["k"], properties: { k: text } };
  const list = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], type: "array", items: item };
  expect(await define({ either, list, x: { type: "string", default: "a", pattern: "^[[:alpha:]]$" } })).toBe(
    "accepted",
  );
});

test.each([
  [{ type: "string", pattern: "(?=a)" }, "must be a valid regular expression, but isn't: error parsing regexp:"],
  [{ ...text, "x-kubernetes-validations": [{ rule: "isURL(self)" }] }, "compilation failed"],
  [{ ...text, "x-kubernetes-validations": [{ rule: "true", optionalOldSelf: true }] }, "is not supported"],
])("rejects the property %j", async (property, why) => {
  const message = await define({ x: property });
  expect(message).toContain("spec.versions[0].schema.openAPIV3Schema.properties[x].");
  expect(message).toContain(why);
});

test.each([
  [{ name: "One" }, "spec.versions[0].name: Invalid value"],
  [{ schema: {} }, "spec.versions[0].schema.openAPIV3Schema: Required value"],
  [{ storage: false }, "must have exactly one version marked as storage version"],
])("rejects the version %j", async (version, why) => {
  expect(await define({ x: text }, version)).toContain(why);
});

test.each([
  [{ plural: "As" }, "spec.names.plural: Invalid value"],
  [{ kind: "a b" }, "spec.names.kind: Invalid value"],
])("rejects the names %j", async (names, why) => {
  expect(await define({ x: text }, {}, names)).toContain(why);
});
