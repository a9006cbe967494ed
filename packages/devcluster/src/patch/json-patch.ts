import jsonPatch, { type Operation } from "fast-json-patch";
import { isArray, isObject, type Json, type JsonObject } from "../json.ts";
import { ApiFault, badRequest } from "../status.ts";

const operationNames: readonly string[] = ["add", "remove", "replace", "move", "copy", "test"];

/** More operations than this are refused, as kube-apiserver does. */
const operationLimit = 10_000;

/**
 * Applies an RFC 6902 patch to a copy of the target. Throws 400 for a malformed patch, 413 for one that is too long, and
 * 422 when an operation does not fit the target (a missing path, a test that fails).
 */
export function applyJsonPatch(target: JsonObject, patch: Json | undefined): Json {
  if (!isArray(patch)) throw badRequest("json patch must be an array of operations");
  if (patch.length > operationLimit) {
    const message = `The allowed maximum operations in a JSON patch is ${operationLimit}, got ${patch.length}`;
    throw new ApiFault(413, "RequestEntityTooLarge", message);
  }
  const operations = patch.map(readOperation);
  try {
    return jsonPatch.applyPatch<Json>(structuredClone(target), operations, true, true, true).newDocument;
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new ApiFault(422, "Invalid", `the server rejected our request due to an error in our request: ${message}`);
  }
}

function readOperation(value: Json): Operation {
  if (!isObject(value)) throw badRequest("each operation of a json patch must be an object");
  const { op, path, from, value: operand } = value;
  if (typeof op !== "string" || !operationNames.includes(op)) {
    throw badRequest(
      `json patch: unexpected operation ${JSON.stringify(op)}; expected one of ${operationNames.join(", ")}`,
    );
  }
  if (typeof path !== "string") throw badRequest(`json patch: the operation "${op}" has no path`);
  switch (op) {
    case "remove":
      return { op, path };
    case "move":
    case "copy":
      if (typeof from !== "string") throw badRequest(`json patch: the operation "${op}" has no from`);
      return { op, path, from };
    case "add":
    case "replace":
      if (operand === undefined) throw badRequest(`json patch: the operation "${op}" at ${path} has no value`);
      return { op, path, value: operand };
    default:
      return { op: "test", path, value: operand ?? null };
  }
}
