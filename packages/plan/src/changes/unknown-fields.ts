import { isRecord, nearestName } from "@millwright/base";
import {
  crds,
  type FieldProblem,
  joinPath,
  type MachineKind,
  type StructuralSchema,
} from "@millwright/core/machine-api";

/** Maximum number of problems that are reported for one object. */
const MAX_PROBLEMS = 20;

/** Maximum number of suggested places for a misplaced field. */
const MAX_PLACES = 3;

/** A schema without fields: its contents are not checked. */
const free: StructuralSchema = {};

const fields = (...names: readonly string[]): StructuralSchema => ({
  properties: Object.fromEntries(names.map((name) => [name, free])),
});

/** The fields that a CustomResourceDefinition leaves to the API server. Source: Kubernetes API reference, ObjectMeta and OwnerReference. */
const metadataSchema: StructuralSchema = {
  properties: {
    ...fields("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation").properties,
    ...fields("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds").properties,
    ...fields("labels", "annotations", "finalizers", "managedFields").properties,
    ownerReferences: { items: fields("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion") },
  },
};

const schemas = new Map<string, StructuralSchema>();

/** The schema of a kind; built on first use, which takes about 10 ms. */
function schemaOf(kind: MachineKind): StructuralSchema {
  if (schemas.size === 0) {
    for (const { spec } of crds()) {
      const schema = spec.versions[0]?.schema.openAPIV3Schema ?? {};
      schemas.set(spec.names.kind, { ...schema, properties: { ...schema.properties, metadata: metadataSchema } });
    }
  }
  return schemas.get(kind) ?? free;
}

/** An unknown field, and the names of its known siblings. */
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
  // A wrong type is reported by the reader of the object.
  if (!isRecord(value) || (properties === undefined && additionalProperties === undefined)) return;
  for (const name of Object.keys(value)) {
    const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (own !== undefined) yield* unknownIn(value[name], own, joinPath(path, name));
    else if (schema["x-kubernetes-preserve-unknown-fields"] !== true)
      yield { parent: path, name, siblings: Object.keys(properties ?? {}) };
  }
}

/** Paths of all writable fields with that name. */
function* placesOf(name: string, schema: StructuralSchema, path: string): Generator<string> {
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (path === "" && ["metadata", "status"].includes(key)) continue;
    const at = joinPath(path, key);
    if (key === name) yield at;
    yield* placesOf(name, field.items ?? field, at);
  }
}

/** Paths of the field that was probably meant: a sibling with a similar name, or the same name elsewhere. */
function meantBy({ parent, name, siblings }: Unknown, schema: StructuralSchema): readonly string[] {
  const near = nearestName(name, siblings);
  if (near !== undefined) return [joinPath(parent, near)];
  const places = [...placesOf(name, schema, "")];
  return places.length <= MAX_PLACES ? places : [];
}

/**
 * The fields of a manifest that its kind does not have, each with the one that was probably meant. `kubectl apply` has the API server reject them by
 * default (`--validate=true`). Driver specs, and metadata of templates, may have any fields.
 */
export function unknownFields(kind: MachineKind, manifest: object): readonly FieldProblem[] {
  const schema = schemaOf(kind);
  const problems: FieldProblem[] = [];
  for (const each of unknownIn(manifest, schema, "")) {
    const meant = meantBy(each, schema);
    const remedy = meant.length === 0 ? "remove it" : `did you mean ${meant.join(" or ")}?`;
    const message = `is not a field of ${kind}, and the API server rejects it: ${remedy}`;
    problems.push({ path: joinPath(each.parent, each.name), message, kind: "forbidden" });
    if (problems.length === MAX_PROBLEMS) break;
  }
  return problems;
}
