import type { JsonObject } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { Registry } from "../resources/registry.ts";
import { patchTypesOf, strategicPatchType } from "../patch/apply-patch-body.ts";
import { describedSchema } from "./described-schema.ts";

/** `GET /openapi/v3`: the path of each group and version's document. The hash changes with the documents. */
export function openApiRoot(registry: Registry): JsonObject {
  const places = new Set(registry.all().map((definition) => placeOf(definition)));
  return {
    paths: Object.fromEntries(
      [...places]
        .toSorted()
        .map((place) => [place, { serverRelativeURL: `/openapi/v3/${place}?hash=${registry.revision}` }]),
    ),
  };
}

/** `GET /openapi/v3/…`: the paths and schemas of one group and version; undefined when it is not served. */
export function openApiDocument(registry: Registry, place: string): JsonObject | undefined {
  const definitions = registry.all().filter((definition) => placeOf(definition) === place);
  if (definitions.length === 0) return undefined;
  const schemas = definitions.flatMap((definition): [string, JsonObject][] => {
    const { schema, parts } = describedSchema(definition);
    return [...parts, [schemaName(definition), { ...schema, "x-kubernetes-group-version-kind": [gvkOf(definition)] }]];
  });
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.35.0" },
    paths: Object.fromEntries(definitions.flatMap(pathsOf)),
    components: { schemas: Object.fromEntries([...schemas, [deleteOptionsName, deleteOptions]]) },
  };
}

const deleteOptionsName = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const deleteOptions: JsonObject = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    dryRun: { type: "array", items: { type: "string" } },
    gracePeriodSeconds: { type: "integer", format: "int64" },
    propagationPolicy: { type: "string" },
  },
};

function placeOf({ group, version }: ResourceDefinition): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

function gvkOf({ group, version, kind }: ResourceDefinition): JsonObject {
  return { group, version, kind };
}

/** The component name, with the group reversed as in kube-apiserver's documents for custom resources. */
function schemaName({ group, version, kind }: ResourceDefinition): string {
  const reversed = group === "" ? "io.k8s.api.core" : group.split(".").toReversed().join(".");
  return `${reversed}.${version}.${kind}`;
}

const queryParameter = (name: string, type: string): JsonObject => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});

const writeParameters: readonly JsonObject[] = [
  queryParameter("dryRun", "string"),
  queryParameter("fieldManager", "string"),
  queryParameter("fieldValidation", "string"),
];

const listParameters: readonly JsonObject[] = [
  queryParameter("allowWatchBookmarks", "boolean"),
  queryParameter("continue", "string"),
  queryParameter("fieldSelector", "string"),
  queryParameter("labelSelector", "string"),
  queryParameter("limit", "integer"),
  queryParameter("resourceVersion", "string"),
  queryParameter("resourceVersionMatch", "string"),
  queryParameter("sendInitialEvents", "boolean"),
  queryParameter("timeoutSeconds", "integer"),
  queryParameter("watch", "boolean"),
];

function pathsOf(definition: ResourceDefinition): readonly (readonly [string, JsonObject])[] {
  const { namespaced, plural } = definition;
  const reference = { $ref: `#/components/schemas/${schemaName(definition)}` };
  const content = { "application/json": { schema: reference } };
  const answers = { "200": { description: "OK", content } };
  const operation = (action: string, parameters: readonly JsonObject[], body?: JsonObject): JsonObject => ({
    operationId: `${action}${definition.kind}`,
    parameters,
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: answers,
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvkOf(definition),
  });
  // Without strategic merge patch kubectl takes merge keys from its own types, as for old servers.
  const patchTypes = patchTypesOf(definition).filter((type) => type !== strategicPatchType);
  const patchBody = Object.fromEntries(patchTypes.map((type) => [type, { schema: { type: "object" } }]));
  const base = `/${placeOf(definition)}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  const item = {
    get: operation("get", []),
    put: operation("put", writeParameters, content),
    patch: operation("patch", [...writeParameters, queryParameter("force", "boolean")], patchBody),
    delete: operation("delete", [queryParameter("dryRun", "string")], {
      "application/json": { schema: { $ref: `#/components/schemas/${deleteOptionsName}` } },
    }),
  };
  const collection = {
    get: operation("list", listParameters),
    post: operation("post", writeParameters, content),
    delete: operation("deletecollection", listParameters),
  };
  return [
    [base, collection],
    [`${base}/{name}`, item],
    ...(definition.subresources.status === true
      ? [[`${base}/{name}/status`, { get: item.get, put: item.put, patch: item.patch }] as const]
      : []),
  ];
}
