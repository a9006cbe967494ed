import { isRecord } from "@millwright/base";
import { definedKeys, equalJson, ownValue } from "./json-merge-patch.ts";

/** An operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "add" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/**
 * The operations of a JSON patch (RFC 6902) that turn `from` into `to`, empty when they are equal. As in {@link createMergePatch} only the fields that
 * differ are written, lists are replaced as a whole, and null in `to` removes the field. Unlike a merge patch it does not apply to an object that lacks
 * what is changed or removed, and it may begin with tests.
 *
 * @param path where `from` is in the object
 *
 * @example
 * const changes = createJsonPatch(machine.status, wanted, "/status");
 * const isSame = { op: "test", path: "/metadata/uid", value: machine.metadata.uid };
 * if (changes.length > 0) await api.patch(machineResource, ref, [isSame, ...changes], { kind: "json", subresource: "status" });
 */
export function createJsonPatch(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path = "",
): readonly JsonPatchOperation[] {
  return [...new Set([...definedKeys(from), ...definedKeys(to)])].flatMap((key): readonly JsonPatchOperation[] => {
    const before = ownValue(from, key);
    const after = ownValue(to, key);
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (equalJson(before, after)) return [];
    if (after === undefined || after === null) {
      return before === undefined || before === null ? [] : [{ op: "remove", path: at }];
    }
    if (isRecord(before) && isRecord(after)) return createJsonPatch(before, after, at);
    return [{ op: "add", path: at, value: after }];
  });
}
