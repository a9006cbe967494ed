import { arrayAt, entriesOf, field, isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { quoted, plainText } from "../json/quoting.ts";
import { invalidValue, required, tooLong } from "../errors/field-errors.ts";
import { StatusError, badRequest, type Cause, invalid } from "../errors/status-error.ts";
import { builtInNames } from "../kinds/built-in-names.ts";
import { apiVersionOf } from "../resources/resource-definition.ts";
import { labelValueErrors, nameErrors, qualifiedNameErrors } from "../objects/names.ts";

/** The maximum total size of the annotations of one object. */
const annotationsLimitBytes = 256 * 1024;
/** Finalizers without a domain that Kubernetes itself uses. */
const standardFinalizers: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Validates the name, labels, annotations, finalizers and owner references of an object. */
export function metadataProblems(definition: ResourceDefinition, object: JsonObject): readonly Cause[] {
  const name = stringAt(object, "metadata", "name") ?? "";
  const base = stringAt(object, "metadata", "generateName") ?? "";
  const owners = arrayAt(object, "metadata", "ownerReferences");
  const isCore = definition.origin === "built-in" && definition.group !== "apiextensions.k8s.io";
  return [
    // The suffix makes a base that ends in a dash a valid name.
    ...(base === "" ? [] : nameProblems("metadata.generateName", base, definition.nameRule, base.replace(/-$/, "a"))),
    ...(name === ""
      ? [required("metadata.name", "name or generateName is required")]
      : nameProblems("metadata.name", name, definition.nameRule)),
    ...entriesOf(field(field(object, "metadata"), "labels")).flatMap(([key, value]) => labelProblems(key, value)),
    ...annotationProblems(entriesOf(field(field(object, "metadata"), "annotations"))),
    ...owners.flatMap(ownerProblems),
    ...controllerProblems(owners),
    ...arrayAt(object, "metadata", "finalizers").flatMap((finalizer, index) =>
      finalizerProblems(plainText(finalizer), index, isCore),
    ),
  ];
}

function annotationProblems(annotations: readonly (readonly [string, Json])[]): readonly Cause[] {
  const problems = annotations.flatMap(([key]) =>
    qualifiedNameProblems("metadata.annotations", key, key.toLowerCase()),
  );
  const size = annotations.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(plainText(value)),
    0,
  );
  if (size <= annotationsLimitBytes) return problems;
  return [...problems, tooLong("metadata.annotations", annotationsLimitBytes)];
}

function finalizerProblems(finalizer: string, index: number, isCore: boolean): readonly Cause[] {
  const problems = qualifiedNameProblems("metadata.finalizers", finalizer);
  if (!isCore || finalizer.includes("/") || standardFinalizers.has(finalizer)) return problems;
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return [...problems, invalidValue(`metadata.finalizers[${index}]`, finalizer, why)];
}

function ownerProblems(owner: Json): readonly Cause[] {
  return ["apiVersion", "kind", "name", "uid"].flatMap((key) => {
    if (stringAt(owner, key)) return [];
    const why = key === "apiVersion" ? "version must not be empty" : "must not be empty";
    return [invalidValue(`metadata.ownerReferences.${key}`, "", why)];
  });
}

/** Throws Go's decoding error when a body is not of the kind of its path. */
function checkKind(definition: ResourceDefinition, apiVersion: string, kind: string, name: string): void {
  const expected = apiVersionOf(definition);
  if (apiVersion === expected && kind === definition.kind) return;
  if (definition.origin === "custom") {
    const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [""];
    const sent = { group: group ?? "", plural: definition.plural, kind };
    const wrongKind = invalidValue("kind", kind, `must be ${definition.kind}`);
    if (kind !== definition.kind) throw invalid(sent, name, [wrongKind]);
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const version = apiVersion.split("/").at(-1) ?? "";
  const head = `${kind} in version ${quoted(version)} cannot be handled as a ${definition.kind}: `;
  if (!builtInNames.has(`${apiVersion}/${kind}`)) {
    throw badRequest(
      `${head}no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const internal = definition.group === "" ? "core" : (definition.group.split(".")[0] ?? definition.group);
  throw badRequest(`${head}converting (${version}.${kind}) to (${internal}.${definition.kind}): unknown conversion`);
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
  checkKind(
    definition,
    plainText(apiVersion ?? expected),
    plainText(kind ?? definition.kind),
    stringAt(body, "metadata", "name") ?? "",
  );
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

/** Throws 400 when the body of a write to a named object has no name. */
export function requireNameInBody(body: JsonObject, name: string): void {
  if (stringAt(body, "metadata", "name")) return;
  throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

/** 500 without a reason, like the storage layer of kube-apiserver for a create with a resourceVersion. */
export function rejectVersionOnCreate(body: JsonObject): void {
  if (stringAt(body, "metadata", "resourceVersion")) {
    throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
  }
}

function nameProblems(
  path: string,
  name: string,
  rule: ResourceDefinition["nameRule"],
  checked = name,
): readonly Cause[] {
  return nameErrors(checked, rule).map((why) => invalidValue(path, name, why));
}

function qualifiedNameProblems(path: string, key: string, checked = key): readonly Cause[] {
  return qualifiedNameErrors(checked).map((why) => invalidValue(path, key, why));
}

function labelProblems(key: string, value: Json): readonly Cause[] {
  const problems = qualifiedNameProblems("metadata.labels", key);
  if (typeof value !== "string") return problems;
  return [...problems, ...labelValueErrors(value).map((why) => invalidValue("metadata.labels", value, why))];
}

function controllerProblems(owners: readonly Json[]): readonly Cause[] {
  const controllers = owners.filter((owner) => field(owner, "controller") === true);
  if (controllers.length < 2) return [];
  const names = controllers
    .map((owner) => `${stringAt(owner, "kind") ?? ""}/${stringAt(owner, "name") ?? ""}`)
    .join(" and ");
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${names}`;
  return [invalidValue("metadata.ownerReferences", owners, why)];
}
