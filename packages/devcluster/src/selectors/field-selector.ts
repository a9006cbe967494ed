import type { StoredObject } from "../objects/stored-object.ts";
import { badRequest } from "../errors/status-error.ts";

/** The selectable fields of an object, besides `metadata.name` and `metadata.namespace`. */
export type SelectableFields = (object: StoredObject) => Readonly<Record<string, string>>;

/** Whether the fields of an object match. */
export type FieldMatcher = (object: StoredObject) => boolean;

interface Term {
  readonly path: string;
  readonly value: string;
  readonly equal: boolean;
}

/**
 * Parses a field selector (`a=b,c!=d`). Throws kube-apiserver's 400 for a field that is not in `offered` (the selectable fields
 * of the resource, besides the metadata fields of all resources).
 */
export function parseFieldSelector(text: string, offered: readonly string[], fieldsOf: SelectableFields): FieldMatcher {
  const terms = text
    .split(/(?<!\\),/)
    .filter((part) => part.trim() !== "")
    .map((part) => parseTerm(part.trim(), text));
  for (const { path } of terms) {
    if (path !== "metadata.name" && path !== "metadata.namespace" && !offered.includes(path)) {
      throw badRequest(
        offered.length > 0
          ? `field label not supported: ${path}`
          : `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
      );
    }
  }
  if (terms.length === 0) return () => true;
  const needsFields = terms.some(({ path }) => !path.startsWith("metadata."));
  return (object) => {
    const fields = needsFields ? fieldsOf(object) : {};
    return terms.every(({ path, value, equal }) => (valueAt(object, fields, path) === value) === equal);
  };
}

function valueAt(object: StoredObject, fields: Readonly<Record<string, string>>, path: string): string {
  if (path === "metadata.name") return object.metadata.name;
  if (path === "metadata.namespace") return object.metadata.namespace ?? "";
  return Object.hasOwn(fields, path) ? (fields[path] ?? "") : "";
}

function parseTerm(part: string, whole: string): Term {
  const match = /^([^=!]+?)(==|=|!=)(.*)$/s.exec(part);
  if (match === null) throw badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
  const [, path = "", operator, value = ""] = match;
  return { path, value: value.replaceAll(/\\([\\,=])/g, "$1"), equal: operator !== "!=" };
}
