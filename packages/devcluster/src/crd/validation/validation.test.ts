import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../json/json.ts";
import { crdsPath, startServer, type TestServer } from "../../testing/start-server.ts";

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

test.each([
  [{ x: {} }, "properties[x].type: Required value: must not be empty for specified object fields"],
  [{ x: { type: "array" } }, "properties[x].items: Required value: must be specified"],
  [{ x: { type: "string", pattern: "(?=a)" } }, "invalid or unsupported Perl syntax: `(?=`"],
  [{ x: { type: "integer", default: "y" } }, "properties[x].default: Invalid value"],
  [{ x: { type: "object", default: { y: 1 } } }, "must not have unknown fields"],
  [{ x: { type: "string", anyOf: [text] } }, "anyOf[0].type: Forbidden: must be empty to be structural"],
  [
    { x: { type: "array", items: text, "x-kubernetes-list-type": "map" } },
    "must not be empty if x-kubernetes-list-type is map",
  ],
  [{ metadata: { type: "object", properties: { labels: { type: "object" } } } }, "metadata is implicitly specified"],
])("rejects the properties %j", async (properties, why) => {
  expect(await define(properties)).toContain(why);
});

test("accepts a structural schema", async () => {
  const either = { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };
  const item = { type: "object", required: ["k"], properties: { k: text } };
  const list = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], type: "array", items: item };
  expect(await define({ either, list, x: { type: "string", default: "a", pattern: "^[[:alpha:]]$" } })).toBe(
    "accepted",
  );
});

test.each([
  [{ name: "One" }, "spec.versions[0].name: Invalid value"],
  [{ additionalPrinterColumns: [{ name: "X", type: "poem", jsonPath: ".x" }] }, "must be one of boolean,date,integer"],
  [
    { subresources: { scale: { specReplicasPath: ".spec.r" } } },
    "spec.subresources.scale.statusReplicasPath: Required",
  ],
  [{ selectableFields: [{ jsonPath: ".spec.none" }] }, "does not refer to a valid field"],
])("rejects the version %j", async (version, why) => {
  expect(await define({ x: text }, version)).toContain(why);
});

test.each([
  [{ plural: "As" }, "spec.names.plural: Invalid value"],
  [{ kind: "a b" }, "spec.names.kind: Invalid value"],
  [{ listKind: "A" }, "kind and listKind may not be the same"],
])("rejects the names %j", async (names, why) => {
  expect(await define({ x: text }, {}, names)).toContain(why);
});
