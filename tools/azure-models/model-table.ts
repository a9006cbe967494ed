import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";

interface MapperType {
  readonly name: string;
  readonly className?: string | undefined;
  readonly allowedValues?: readonly unknown[] | undefined;
  readonly element?: { readonly type: MapperType } | undefined;
  readonly value?: { readonly type: MapperType } | undefined;
}

/** A type as the serializers of the SDK describe it: `@azure/core-client`, `MapperType`. */
const mapperTypeSchema: z.ZodType<MapperType> = z.lazy(() =>
  z.object({
    name: z.string(),
    className: z.string().optional(),
    allowedValues: z.array(z.unknown()).optional(),
    element: z.object({ type: mapperTypeSchema }).optional(),
    value: z.object({ type: mapperTypeSchema }).optional(),
  }),
);

const mapperSchema = z.object({
  type: z.object({
    name: z.literal("Composite"),
    className: z.string(),
    modelProperties: z
      .record(
        z.string(),
        z.object({
          serializedName: z.string().optional(),
          readOnly: z.boolean().optional(),
          type: mapperTypeSchema,
        }),
      )
      .optional(),
  }),
});

type Properties = NonNullable<z.output<typeof mapperSchema>["type"]["modelProperties"]>;

const plainTypes: Readonly<Record<string, string>> = {
  String: "string",
  Uuid: "string",
  Number: "number",
  Boolean: "boolean",
  Date: "string",
  DateTime: "string",
  TimeSpan: "string",
};

/** Enumerations that are documented as outdated: the cloud has newer sizes. */
const openEnumerations: ReadonlySet<string> = new Set(["HardwareProfile.vmSize"]);

/**
 * The values of the extensible enumerations of a release, by `Class.property`: the serializers have them as texts, and only the declarations name them.
 */
function readEnumerations(declarations: string, models: object): ReadonlyMap<string, readonly string[]> {
  const text = declarations.replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const found = new Map<string, readonly string[]>();
  for (const [, className = "", body = ""] of text.matchAll(/interface (\w+)[^{]*\{([^}]*)\}/g)) {
    for (const [, property = "", type = ""] of body.matchAll(/(?:readonly )?(\w+)\??: (\w+);/g)) {
      const values: unknown = Reflect.get(models, `Known${type}`);
      if (typeof values !== "object" || values === null || openEnumerations.has(`${className}.${property}`)) continue;
      found.set(`${className}.${property}`, Object.values(values).map(String));
    }
  }
  return found;
}

/**
 * The classes of a release that lie within some steps from those that are wanted, one a line.
 *
 * @param folder the folder `models` of the release, with its mappers and declarations
 */
export async function modelTable(folder: string, roots: readonly string[], depth: number): Promise<readonly string[]> {
  const load = (file: string): Promise<object> => import(pathToFileURL(join(folder, file)).href);
  const enumerations = readEnumerations(readFileSync(join(folder, "index.d.ts"), "utf8"), await load("index.js"));
  const classes = new Map<string, Properties>();
  for (const exported of Object.values(await load("mappers.js"))) {
    const mapper = mapperSchema.safeParse(exported);
    if (mapper.success) classes.set(mapper.data.type.className, mapper.data.type.modelProperties ?? {});
  }
  const steps = new Map<string, number>(roots.map((root) => [root, 0]));
  // A map hands out what is added while it is gone through.
  for (const [name, step] of steps) {
    if (step >= depth) continue;
    for (const { type } of Object.values(classes.get(name) ?? {})) {
      const next = (type.element?.type ?? type.value?.type ?? type).className;
      if (next !== undefined && !steps.has(next)) steps.set(next, step + 1);
    }
  }
  const notation = (type: MapperType, values: readonly string[] | undefined): string => {
    if (type.element !== undefined) return `[]${notation(type.element.type, values)}`;
    if (type.value !== undefined) return `{}${notation(type.value.type, values)}`;
    if (type.className !== undefined) return steps.has(type.className) ? type.className : "any";
    if (values !== undefined || type.allowedValues !== undefined)
      return `enum:${(values ?? type.allowedValues?.map(String) ?? []).join("|")}`;
    return plainTypes[type.name] ?? "any";
  };
  return [...steps.keys()].toSorted().map((name) => {
    const fields = Object.entries(classes.get(name) ?? {}).map(([property, { serializedName, readOnly, type }]) => {
      const text = notation(type, enumerations.get(`${name}.${property}`));
      return [serializedName ?? property, readOnly === true ? `!${text}` : text];
    });
    return JSON.stringify([name, Object.fromEntries(fields)]);
  });
}
