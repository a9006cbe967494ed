import type { Declarations } from "./declarations.ts";

const resourceIdPattern = /^(\/subscriptions\/[^/]+)?(\/resourceGroups\/[^/]+)?\/providers\/[^/]+(\/[^/]+\/[^/]+)+$/i;

const simple: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  Date: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  Uint8Array: (value) => value instanceof Uint8Array,
  any: () => true,
};

/** Differences of a value from its declared type: another type, a value not in its enum, a missing field, an invalid resource ID. */
export function valueProblems(
  declarations: Declarations,
  type: string,
  value: unknown,
  path: string,
): readonly string[] {
  // In Azure null means absent.
  if (value === undefined || value === null) return [];
  const shown = (): string => (JSON.stringify(value) ?? "").slice(0, 80);
  const below = (childType: string, child: unknown, at: string): readonly string[] =>
    valueProblems(declarations, childType, child, at);

  const [, item] = /^\(?(.*?)\)?\[\]$/.exec(type) ?? [];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path} must be a list, is ${shown()}`];
    return value.flatMap((each: unknown, index) => below(item, each, `${path}[${index}]`));
  }
  const [, entry] = /^Record<string, (.*)>$/.exec(type) ?? [];
  if (entry !== undefined) {
    if (typeof value !== "object") return [`${path} must be a map, is ${shown()}`];
    return Object.entries(value).flatMap(([key, each]) => below(entry, each, `${path}.${key}`));
  }
  const values = declarations.valuesOf(type);
  if (values !== undefined) {
    return typeof value === "string" && values.has(value.toLowerCase())
      ? []
      : [`${path} is not a value of ${type}: ${shown()}`];
  }
  const isOfType = Object.hasOwn(simple, type) ? simple[type] : undefined;
  if (isOfType !== undefined) return isOfType(value) ? [] : [`${path} must be a ${type}, is ${shown()}`];
  const alias = declarations.aliasOf(type);
  if (alias !== undefined) return below(alias, value, path);
  const members = declarations.membersOf(type);
  if (members === undefined) throw new Error(`the SDK declares no type ${type} (${path})`);
  if (typeof value !== "object" || Array.isArray(value)) return [`${path} must be an object, is ${shown()}`];
  return [...members].flatMap(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field: unknown = Reflect.get(value, name);
    if (field === undefined) return member.isRequired ? [`${at} is required`] : [];
    if (name === "id" && typeof field === "string" && !resourceIdPattern.test(field)) {
      return [`${at} is not a resource ID: ${JSON.stringify(field)}`];
    }
    return below(member.type, field, at);
  });
}
