import { isArray, isObject, type Json, type JsonObject, jsonTypeOf } from "../../json/json.ts";
import type { ScalePaths } from "../../resources/resource-definition.ts";
import { plainText } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { invalidValue } from "../../errors/field-errors.ts";

const largest = 2 ** 31 - 1;

/** Validates the replicas that a scale subresource exposes, beyond the schema. */
export function scaleProblems(object: JsonObject, paths: ScalePaths, part: "all" | "status"): readonly Cause[] {
  return [
    ...(part === "all" ? countProblems(object, paths.specReplicasPath) : []),
    ...countProblems(object, paths.statusReplicasPath),
    ...(paths.labelSelectorPath === undefined ? [] : textProblems(object, paths.labelSelectorPath)),
  ];
}

function countProblems(object: JsonObject, path: string): readonly Cause[] {
  const { value, error } = read(object, path);
  if (error !== undefined) return [invalidValue(path, 0, error)];
  if (value === undefined) return [];
  if (typeof value !== "number" || !Number.isInteger(value))
    return [invalidValue(path, 0, accessorError(path, value, "int64"))];
  if (value < 0) return [invalidValue(path, value, "should be a non-negative integer")];
  return value > largest ? [invalidValue(path, value, `should be less than or equal to ${largest}`)] : [];
}

function textProblems(object: JsonObject, path: string): readonly Cause[] {
  const { value, error } = read(object, path);
  if (error !== undefined) return [invalidValue(path, "", error)];
  if (value === undefined || typeof value === "string") return [];
  return [invalidValue(path, "", accessorError(path, value, "string"))];
}

function read(object: JsonObject, path: string): { readonly value?: Json | undefined; readonly error?: string } {
  const steps = path.split(".").slice(1);
  let current: Json | undefined = object;
  for (const [index, step] of steps.entries()) {
    if (!isObject(current)) {
      const place = `.${steps.slice(0, index + 1).join(".")}`;
      return { error: accessorError(place, current ?? null, "map[string]interface{}") };
    }
    if (!Object.hasOwn(current, step)) return {};
    current = current[step];
  }
  return { value: current };
}

/** In the words of Go's accessors. */
function accessorError(path: string, value: Json, expected: string): string {
  return `${path} accessor error: ${plainText(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function goType(value: Json): string {
  if (isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  const names: Readonly<Record<string, string>> = {
    integer: "int64",
    number: "float64",
    boolean: "bool",
    null: "<nil>",
  };
  const type = jsonTypeOf(value);
  return names[type] ?? type;
}
