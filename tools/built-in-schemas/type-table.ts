import type { GoTypes } from "./go-types.ts";
import type { OpenApiSchema, OpenApiSchemas } from "./open-api-schemas.ts";

const prefix = "#/components/schemas/";

/** Types that are written by a letter, see `type-notation.ts` of the devcluster. */
const letters: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "m",
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "x",
};

/** The types that the wanted kinds reach, in the notation of the devcluster, and the name of the type of each kind. */
export function typeTable(
  schemas: OpenApiSchemas,
  wanted: readonly { readonly group: string; readonly kind: string; readonly version: string }[],
  goTypes: GoTypes,
): { readonly kinds: Readonly<Record<string, string>>; readonly types: readonly string[] } {
  const roots = wanted.map(({ group, kind }): [string, string] => {
    const found = Object.entries(schemas).find(([, schema]) =>
      schema["x-kubernetes-group-version-kind"]?.some((gvk) => gvk.group === group && gvk.kind === kind),
    );
    if (found === undefined) throw new Error(`the documents describe no kind ${kind} of the group "${group}"`);
    return [`${group}/${kind}`, found[0]];
  });
  const reached = reachedFrom(
    schemas,
    roots.map(([, name]) => name),
  );
  const nameOf = shortNames([...reached]);
  const types = [...reached].map((full): readonly [string, string] => {
    const name = nameOf(full);
    return [name, `${name} ${structText(full, schemas[full] ?? {}, nameOf, schemas, goTypes)}`.trimEnd()];
  });
  return {
    kinds: Object.fromEntries(roots.map(([key, full]): [string, string] => [key, nameOf(full)])),
    types: types.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line),
  };
}

function reachedFrom(schemas: OpenApiSchemas, roots: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (schema: OpenApiSchema | undefined): void => {
    if (schema === undefined) return;
    const full = schema.$ref?.slice(prefix.length);
    if (full !== undefined) visitType(full);
    for (const part of schema.allOf ?? []) visit(part);
    for (const child of Object.values(schema.properties ?? {})) visit(child);
    visit(schema.items);
    visit(schema.additionalProperties);
  };
  const visitType = (full: string): void => {
    const schema = schemas[full];
    if (schema === undefined) throw new Error(`the documents refer to ${full} and do not describe it`);
    if (reached.has(full) || letters[full] !== undefined || schema.properties === undefined) return;
    reached.add(full);
    visit(schema);
  };
  for (const root of roots) visitType(root);
  return reached;
}

/** The last part of each name, with its group where two groups have a type of that name. */
function shortNames(names: readonly string[]): (full: string) => string {
  const last = (full: string): string => full.split(".").at(-1) ?? full;
  const counts = new Map<string, number>();
  for (const full of names) counts.set(last(full), (counts.get(last(full)) ?? 0) + 1);
  return (full) => ((counts.get(last(full)) ?? 0) > 1 ? `${full.split(".").at(-3) ?? ""}.${last(full)}` : last(full));
}

function structText(
  full: string,
  schema: OpenApiSchema,
  nameOf: (full: string) => string,
  schemas: OpenApiSchemas,
  goTypes: GoTypes,
): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([key, child]) =>
      `${key}${required.has(key) ? "*" : ""}${goTypes.goesWhenEmpty(full, key) ? "?" : ""}:${typeText(child, nameOf, schemas)}`,
  );
  return [...(schema["x-kubernetes-map-type"] === "atomic" ? ["!"] : []), ...fields].join(" ");
}

function typeText(schema: OpenApiSchema, nameOf: (full: string) => string, schemas: OpenApiSchemas): string {
  const isAtomic = schema["x-kubernetes-map-type"] === "atomic" ? "!" : "";
  return `${plainType(schema, nameOf, schemas)}${isAtomic}${listText(schema)}${patchText(schema)}${defaultText(schema)}`;
}

function plainType(schema: OpenApiSchema, nameOf: (full: string) => string, schemas: OpenApiSchemas): string {
  const full = (schema.$ref ?? schema.allOf?.[0]?.$ref)?.slice(prefix.length);
  if (full !== undefined) {
    const letter = letters[full];
    if (letter !== undefined) return letter;
    const target = schemas[full];
    return target?.properties !== undefined ? nameOf(full) : target?.type === "object" ? "o" : "j";
  }
  switch (schema.type) {
    case "string":
      return schema.format === "byte" ? "y" : "s";
    case "boolean":
      return "b";
    case "number":
      return "d";
    case "integer":
      return schema.format === "int64" ? "l" : "i";
    case "array":
      return `[${typeText(schema.items ?? {}, nameOf, schemas)}]`;
    case "object":
      return schema.additionalProperties === undefined
        ? "o"
        : `{${typeText(schema.additionalProperties, nameOf, schemas)}}`;
    case undefined:
    default:
      throw new Error(`the type of ${JSON.stringify(schema)} has no notation`);
  }
}

function listText(schema: OpenApiSchema): string {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return "#";
  return type === "map" ? `(${(schema["x-kubernetes-list-map-keys"] ?? []).join(",")})` : "";
}

function patchText(schema: OpenApiSchema): string {
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy === undefined || strategy === "replace") return "";
  return `^${strategy}${schema["x-kubernetes-patch-merge-key"] === undefined ? "" : `~${schema["x-kubernetes-patch-merge-key"]}`}`;
}

/** Defaults other than Go's zero values. */
function defaultText({ default: value }: OpenApiSchema): string {
  const isZero = value === undefined || value === "" || value === 0 || value === false || typeof value === "object";
  return isZero ? "" : `=${JSON.stringify(value)}`;
}
