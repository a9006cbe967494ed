import { crds, type FieldProblem, isRecord, joinPath, type MachineKind, type StructuralSchema } from "@millwright/core";
import { nearestName } from "./nearest-name.ts";

/** Problems that are told of one object: a person mends them one by one. */
const MOST_PROBLEMS = 20;

/** Places that are told of a field that stands in the wrong one. */
const MOST_PLACES = 3;

/** Names no fields: whatever is in it is not looked at. */
const free: StructuralSchema = {};

const fields = (...names: readonly string[]): StructuralSchema => ({
  properties: Object.fromEntries(names.map((name) => [name, free])),
});

/** What a CustomResourceDefinition leaves to the API server. Source: Kubernetes API reference, ObjectMeta and OwnerReference. */
const metadataSchema: StructuralSchema = {
  properties: {
    ...fields("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation").properties,
    ...fields("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds").properties,
    ...fields("labels", "annotations", "finalizers", "managedFields").properties,
    ownerReferences: { items: fields("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion") },
  },
};

const schemas = new Map<string, StructuralSchema>();

/** The schema of a kind; made when it is first asked for, which takes a hundredth of a second. */
function schemaOf(kind: MachineKind): StructuralSchema {
  if (schemas.size === 0) {
    for (const { spec } of crds()) {
      const schema = spec.versions[0]?.schema.openAPIV3Schema ?? {};
      schemas.set(spec.names.kind, { ...schema, properties: { ...schema.properties, metadata: metadataSchema } });
    }
  }
  return schemas.get(kind) ?? free;
}

/** A field that is not there, and the names of those that are. */
interface Unknown {
  readonly parent: string;
  readonly name: string;
  readonly siblings: readonly string[];
}

function* unknownIn(value: unknown, schema: StructuralSchema, path: string): Generator<Unknown> {
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    const list: readonly unknown[] = value;
    for (const [index, item] of list.entries()) yield* unknownIn(item, items, joinPath(path, index));
  }
  // A text in whose place there is an object has the wrong type, which whoever reads it says.
  if (!isRecord(value) || (properties === undefined && additionalProperties === undefined)) return;
  for (const name of Object.keys(value)) {
    const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (own !== undefined) yield* unknownIn(value[name], own, joinPath(path, name));
    else if (schema["x-kubernetes-preserve-unknown-fields"] !== true)
      yield { parent: path, name, siblings: Object.keys(properties ?? {}) };
  }
}

/** Paths of all fields of a name that somebody may write. */
function* placesOf(name: string, schema: StructuralSchema, path: string): Generator<string> {
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (path === "" && ["metadata", "status"].includes(key)) continue;
    const at = joinPath(path, key);
    if (key === name) yield at;
    yield* placesOf(name, field.items ?? field, at);
  }
}

/** Where the field stands that was meant: beside it by a name that is near, or elsewhere by the same name. */
function meantBy({ parent, name, siblings }: Unknown, schema: StructuralSchema): readonly string[] {
  const near = nearestName(name, siblings);
  if (near !== undefined) return [joinPath(parent, near)];
  const places = [...placesOf(name, schema, "")];
  return places.length <= MOST_PLACES ? places : [];
}

/**
 * The fields of a manifest that its kind does not have, each with the one that was probably meant. `kubectl apply` asks the API server to refuse them, as it does by
 * default (`--validate=true`). What a driver reads, and metadata of templates, may hold any.
 */
export function unknownFields(kind: MachineKind, manifest: object): readonly FieldProblem[] {
  const schema = schemaOf(kind);
  const problems: FieldProblem[] = [];
  for (const each of unknownIn(manifest, schema, "")) {
    const meant = meantBy(each, schema);
    const remedy = meant.length === 0 ? "take it away" : `write ${meant.join(" or ")} if that is meant`;
    const message = `is no field of a ${kind}, and the API server refuses it: ${remedy}`;
    problems.push({ path: joinPath(each.parent, each.name), message, kind: "forbidden" });
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
}
