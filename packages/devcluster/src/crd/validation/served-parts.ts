import { arrayAt, at, field, isObject, type Json, stringAt } from "../../json/json.ts";
import { plainText, quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { invalidValue, required } from "../../errors/field-errors.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const simplePath = /^\.[a-zA-Z0-9_\-.[\]'"@?()=!<>*:/ $\\]*$/;
const dottedPath = /^(?:\.[a-zA-Z0-9_-]+)+$/;

/** Validates the printer columns of a version. */
export function columnProblems(version: Json, path: string): readonly Cause[] {
  return arrayAt(version, "additionalPrinterColumns").flatMap((column, index) => {
    const place = `${path}[${index}]`;
    const type = stringAt(column, "type") ?? "";
    const format = stringAt(column, "format") ?? "";
    const jsonPath = stringAt(column, "jsonPath") ?? "";
    const causes: Cause[] = [];
    if (!stringAt(column, "name")) causes.push(required(`${place}.name`));
    if (type === "") causes.push(required(`${place}.type`, `must be one of ${columnTypes.join(",")}`));
    else if (!columnTypes.includes(type)) {
      causes.push(invalidValue(`${place}.type`, type, `must be one of ${columnTypes.join(",")}`));
    }
    if (format !== "" && !columnFormats.includes(format)) {
      causes.push(invalidValue(`${place}.format`, format, `must be one of ${columnFormats.join(",")}`));
    }
    if (jsonPath === "") causes.push(required(`${place}.JSONPath`));
    else if (!simplePath.test(jsonPath)) causes.push(notSimple(`${place}.JSONPath`, jsonPath));
    return causes;
  });
}

function notSimple(path: string, value: string): Cause {
  return invalidValue(path, value, "must be a simple json path starting with .");
}

/** Validates the scale subresource of a version. */
export function subresourceProblems(version: Json, path: string): readonly Cause[] {
  const scale = at(version, "subresources", "scale");
  if (!isObject(scale)) return [];
  const check = (key: string, isRequired: boolean, roots: readonly string[], where: string): readonly Cause[] => {
    const value = stringAt(scale, key) ?? "";
    const place = `${path}.scale.${key}`;
    if (value === "") return isRequired ? [required(place)] : [];
    if (!dottedPath.test(value)) return [notSimple(place, value)];
    const fits = roots.some((root) => value.startsWith(`.${root}.`));
    return fits ? [] : [invalidValue(place, value, `should be a json path under ${where}`)];
  };
  return [
    ...check("specReplicasPath", true, ["spec"], ".spec"),
    ...check("statusReplicasPath", true, ["status"], ".status"),
    ...check("labelSelectorPath", false, ["spec", "status"], "either .spec or .status"),
  ];
}

const selectableLimit = 8;

/** Validates the selectable fields of a version. */
export function selectableProblems(version: Json, path: string): readonly Cause[] {
  const fields = arrayAt(version, "selectableFields");
  const schema = at(version, "schema", "openAPIV3Schema");
  const seen = new Set<string>();
  const causes = fields.flatMap((entry, index): readonly Cause[] => {
    const place = `${path}[${index}].jsonPath`;
    const jsonPath = stringAt(entry, "jsonPath") ?? "";
    if (jsonPath === "") return [required(place)];
    if (seen.has(jsonPath)) {
      return [{ reason: "FieldValueDuplicate", message: `Duplicate value: ${quoted(jsonPath)}`, field: place }];
    }
    seen.add(jsonPath);
    if (!dottedPath.test(jsonPath))
      return [invalidValue(place, jsonPath, "must be a simple json path starting with .")];
    let found: Json | undefined = schema;
    for (const step of jsonPath.split(".").slice(1)) found = at(found, "properties", step);
    if (found === undefined) {
      return [invalidValue(place, jsonPath, "is an invalid path: does not refer to a valid field")];
    }
    if (["string", "boolean", "integer"].includes(plainText(field(found, "type")))) return [];
    const why =
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
    return [invalidValue(place, jsonPath, why)];
  });
  if (fields.length <= selectableLimit) return causes;
  const message = `Too many: ${fields.length}: must have at most ${selectableLimit} items`;
  return [...causes, { reason: "FieldValueTooMany", message, field: path }];
}
