import { arrayAt, entriesOf, field, isArray, isObject, type Json, type JsonObject, stringAt } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import { quoted, plainText } from "../quoting.ts";
import { ApiFault, badRequest, type Cause } from "../status.ts";
import { apiVersionOf } from "../kinds/resource-definition.ts";

const labelText = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainText = `${labelText}(\\.${labelText})*`;
const labelName = new RegExp(`^${labelText}$`);
const subdomainName = new RegExp(`^${subdomainText}$`);
const qualifiedNamePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Everything that is wrong with the name, labels, annotations, finalizers and owners of an object. */
export function metadataProblems(definition: ResourceDefinition, object: JsonObject): readonly Cause[] {
  const name = stringAt(object, "metadata", "name") ?? "";
  return [
    ...(name === ""
      ? [cause("metadata.name", "FieldValueRequired", "Required value: name or generateName is required")]
      : nameProblems("metadata.name", name, definition.nameRule)),
    ...entriesOf(field(field(object, "metadata"), "labels")).flatMap(([key, value]) => labelProblems(key, value)),
    ...entriesOf(field(field(object, "metadata"), "annotations")).flatMap(([key]) =>
      qualifiedNameProblems("metadata.annotations", key.toLowerCase()),
    ),
    ...arrayAt(object, "metadata", "finalizers").flatMap((finalizer) =>
      qualifiedNameProblems("metadata.finalizers", plainText(finalizer)),
    ),
    ...arrayAt(object, "metadata", "ownerReferences").flatMap((owner, index) =>
      ["apiVersion", "kind", "name", "uid"].flatMap((key) =>
        stringAt(owner, key)
          ? []
          : [cause(`metadata.ownerReferences[${index}].${key}`, "FieldValueRequired", "Required value")],
      ),
    ),
    ...controllerProblems(arrayAt(object, "metadata", "ownerReferences")),
  ];
}

/** Throws 400, in the words of Go's decoder, when a field of the metadata has another type than Kubernetes gives it. */
export function checkMetadataTypes(definition: ResourceDefinition, object: JsonObject): void {
  const metadata = field(object, "metadata");
  if (metadata === undefined || metadata === null) return;
  const fail = (value: Json, path: string, expected: string): never => {
    const shownType = value === null ? "null" : isArray(value) ? "array" : typeof value;
    throw badRequest(
      `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: json: cannot ` +
        `unmarshal ${shownType === "boolean" ? "bool" : shownType} into Go struct field ObjectMeta.${path} of type ${expected}`,
    );
  };
  if (!isObject(metadata)) return fail(metadata, "metadata", "v1.ObjectMeta");
  for (const key of ["name", "generateName", "namespace", "uid", "resourceVersion"]) {
    const value = metadata[key];
    if (value !== undefined && value !== null && typeof value !== "string") fail(value, `metadata.${key}`, "string");
  }
  for (const key of ["labels", "annotations"]) {
    const map = metadata[key];
    if (map === undefined || map === null) continue;
    if (!isObject(map)) fail(map, `metadata.${key}`, "map[string]string");
    for (const [, value] of entriesOf(map)) {
      if (typeof value !== "string") fail(value, `metadata.${key}`, "string");
    }
  }
  for (const key of ["finalizers", "ownerReferences"]) {
    const list = metadata[key];
    if (list === undefined || list === null) continue;
    const [expected, fits] =
      key === "finalizers"
        ? ["string", (item: Json) => typeof item === "string"]
        : ["v1.OwnerReference", (item: Json) => isObject(item)];
    if (!isArray(list)) return fail(list, `metadata.${key}`, `[]${expected}`);
    for (const item of list) if (!fits(item)) fail(item, `metadata.${key}`, expected);
  }
}

/** Throws 400 when the body is for another version, kind, namespace or name than the path. */
export function checkIdentity(
  definition: ResourceDefinition,
  body: Json | undefined,
  place: { readonly namespace: string; readonly name?: string | undefined },
): JsonObject {
  if (!isObject(body)) throw badRequest("the body of the request must be a JSON object");
  const apiVersion = field(body, "apiVersion");
  const kind = field(body, "kind");
  const expected = apiVersionOf(definition);
  if (apiVersion !== undefined && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${plainText(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== undefined && kind !== definition.kind) {
    throw badRequest(`the kind in the data (${plainText(kind)}) does not match the expected kind (${definition.kind})`);
  }
  checkMetadataTypes(definition, body);
  const namespace = stringAt(body, "metadata", "namespace");
  if (definition.namespaced && namespace && namespace !== place.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const name = stringAt(body, "metadata", "name");
  if (place.name !== undefined && name && name !== place.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${place.name})`);
  }
  return { ...body, apiVersion: expected, kind: definition.kind };
}

/** 500 without a reason, as the storage layer of kube-apiserver answers a create that names a version. */
export function refuseVersionOnCreate(body: JsonObject): void {
  if (stringAt(body, "metadata", "resourceVersion")) {
    throw new ApiFault(500, "", "resourceVersion should not be set on objects to be created");
  }
}

function nameProblems(path: string, name: string, rule: ResourceDefinition["nameRule"]): readonly Cause[] {
  const problems: Cause[] = [];
  if (rule === "path") return pathSegmentProblems(path, name);
  const limit = rule === "label" ? 63 : 253;
  if (name.length > limit) problems.push(wrong(path, name, `must be no more than ${limit} bytes`));
  if (rule === "label" && !labelName.test(name)) {
    problems.push(
      wrong(
        path,
        name,
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
          `with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${labelText}')`,
      ),
    );
  }
  if (rule === "subdomain" && !subdomainName.test(name)) {
    problems.push(
      wrong(
        path,
        name,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
          `and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomainText}')`,
      ),
    );
  }
  return problems;
}

function pathSegmentProblems(path: string, name: string): readonly Cause[] {
  if (name === "." || name === "..") return [wrong(path, name, `may not be '${name}'`)];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => wrong(path, name, `may not contain '${part}'`));
}

function qualifiedNameProblems(path: string, key: string): readonly Cause[] {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (parts.length > 2 || name.length > 63 || !qualifiedNamePart.test(name)) {
    return [
      wrong(
        path,
        key,
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
          "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ),
    ];
  }
  return prefix === undefined ? [] : nameProblems(path, prefix, "subdomain").map((problem) => ({ ...problem }));
}

function labelProblems(key: string, value: Json): readonly Cause[] {
  const problems = [...qualifiedNameProblems("metadata.labels", key)];
  if (typeof value !== "string") return problems;
  if (value.length > 63) problems.push(wrong("metadata.labels", value, "must be no more than 63 bytes"));
  else if (value !== "" && !qualifiedNamePart.test(value)) {
    problems.push(
      wrong(
        "metadata.labels",
        value,
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
          "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
          "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ),
    );
  }
  return problems;
}

function controllerProblems(owners: readonly Json[]): readonly Cause[] {
  const controllers = owners.filter((owner) => field(owner, "controller") === true);
  if (controllers.length < 2) return [];
  const message = `Invalid value: ${quoted(owners)}: Only one reference can have Controller set to true.`;
  return [cause("metadata.ownerReferences", "FieldValueInvalid", message)];
}

function cause(path: string, reason: string, message: string): Cause {
  return { reason, message, field: path };
}

function wrong(path: string, value: string, why: string): Cause {
  return cause(path, "FieldValueInvalid", `Invalid value: ${quoted(value)}: ${why}`);
}
