import { isRecord } from "@millwright/base";
import { ApiError } from "../client/api-error.ts";
import { equalJson } from "../json/json-merge-patch.ts";

/**
 * Applies a JSON patch (RFC 6902) of `add`, `remove`, `replace` and `test` operations to a copy of the target. As in kube-apiserver a test for null holds
 * where there is nothing.
 */
export function applyJsonPatch(target: unknown, operations: readonly unknown[]): unknown {
  let result: unknown = structuredClone(target);
  for (const operation of operations) {
    if (!isRecord(operation) || typeof operation["path"] !== "string") throw invalid("an operation has no path");
    const { op, path, value } = operation;
    const tokens = path
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (op === "test") {
      if (!equalJson(read(result, tokens) ?? null, value)) throw invalid(`testing value ${path} failed`);
    } else if (op === "add" || op === "replace" || op === "remove") {
      result = write(result, tokens, op, value);
    } else {
      throw invalid(`the operation ${JSON.stringify(op)} is not known to the fake API server`);
    }
  }
  return result;
}

function read(target: unknown, tokens: readonly string[]): unknown {
  let found = target;
  for (const token of tokens) {
    if (Array.isArray(found)) found = found[Number(token)];
    else found = isRecord(found) && Object.hasOwn(found, token) ? found[token] : undefined;
  }
  return found;
}

function write(target: unknown, tokens: readonly string[], op: "add" | "replace" | "remove", value: unknown): unknown {
  const [token, ...rest] = tokens;
  if (token === undefined) return op === "remove" ? undefined : value;
  if (Array.isArray(target)) {
    const index = token === "-" ? target.length : Number(token);
    if (!Number.isInteger(index) || index < 0 || index > target.length) throw invalid(`no such index: ${token}`);
    if (rest.length > 0) return target.with(index, write(target[index], rest, op, value));
    return target.toSpliced(index, op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
  }
  if (!isRecord(target)) throw invalid(`the parent of ${token} does not exist`);
  const entries = new Map(Object.entries(target));
  if ((rest.length > 0 || op !== "add") && !entries.has(token)) throw invalid(`${token} does not exist`);
  if (rest.length > 0) entries.set(token, write(entries.get(token), rest, op, value));
  else if (op === "remove") entries.delete(token);
  else entries.set(token, value);
  return Object.fromEntries(entries);
}

/** An API server does not report what is wrong; the cause is for people who debug a test. */
function invalid(what: string): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError({ status: 422, reason: "Invalid", message, details: {}, cause: new Error(what) });
}
