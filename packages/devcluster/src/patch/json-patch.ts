import jsonPatch, { type Operation } from "fast-json-patch";
import { at, isArray, isObject, type Json, type JsonObject } from "../json/json.ts";
import { StatusError, badRequest } from "../errors/status-error.ts";

const operationNames: ReadonlySet<string> = new Set(["add", "remove", "replace", "move", "copy", "test"]);

/** Patches with more operations are rejected, as in kube-apiserver. */
const operationLimit = 10_000;

/**
 * Applies an RFC 6902 patch to a copy of the target. Throws 400 for a malformed patch, 413 for one that is too long, and
 * 422 when an operation does not fit the target (a missing path, a test that fails).
 */
export function applyJsonPatch(target: JsonObject, patch: Json | undefined): Json {
  if (!isArray(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${isObject(patch) ? "object" : typeof patch} into Go value of type []handlers.jsonPatchOp`,
    );
  if (patch.length > operationLimit) {
    const message = `The allowed maximum operations in a JSON patch is ${operationLimit}, got ${patch.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", message);
  }
  const operations = patch.map(readOperation);
  let document: Json = structuredClone(target);
  for (const operation of operations) {
    if (isTestForNothing(document, operation)) continue;
    try {
      document = jsonPatch.applyOperation<Json>(document, asLenient(document, operation), true, true, true).newDocument;
    } catch {
      throw rejected();
    }
  }
  return document;
}

/** As in Kubernetes' library, replacing a field that an existing object does not have adds it. */
function asLenient(document: Json, operation: Operation): Operation {
  if (operation.op !== "replace") return operation;
  return isObject(parentOf(document, operation.path).parent) ? { ...operation, op: "add" } : operation;
}

/** As in Kubernetes' library, a test for null holds for a field that an existing object does not have. */
function isTestForNothing(document: Json, operation: Operation): boolean {
  if (operation.op !== "test" || operation.value !== null) return false;
  const { parent, key } = parentOf(document, operation.path);
  return isObject(parent) && !Object.hasOwn(parent, key);
}

/** Where a path points to. */
function parentOf(document: Json, path: string): { readonly parent: Json | undefined; readonly key: string } {
  const steps = path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { parent: at(document, ...steps.slice(1, -1)), key: steps.at(-1) ?? "" };
}

/** Kubernetes does not report which operation it was. */
function rejected(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

function readOperation(value: Json): Operation {
  if (!isObject(value)) throw badRequest("each operation of a json patch must be an object");
  const { op, path, from, value: operand } = value;
  if (typeof op !== "string" || !operationNames.has(op)) {
    throw rejected();
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
