import type { IncomingMessage } from "node:http";
import { parseYaml } from "@millwright/kube/yaml";
import { isArray, type Json } from "../json/json.ts";
import { badRequest, tooLarge } from "../errors/status-error.ts";

/** Larger bodies get 413, as in kube-apiserver. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** Deeper nesting gets 400. */
const depthLimit = 512;

/** Reads a whole request body; throws 413 above {@link bodyLimitBytes} without buffering the rest. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > bodyLimitBytes) {
    request.resume();
    throw tooLarge(bodyLimitBytes);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Parses JSON of a client; throws 400 with the place of the error. See {@link checkHostile} for what is rejected. */
export function parseJsonBody(text: string): Json {
  let value: Json;
  try {
    checkDepth(text);
    value = JSON.parse(text, /\d{16}/.test(text) ? rejectRounding : undefined);
  } catch (error) {
    throw badRequest(`the body of the request is not valid JSON: ${messageOf(error)}`);
  }
  checkHostile(value, 0);
  return value;
}

/** Parses the YAML (or JSON) body of a server-side apply. Aliases are limited against expansion bombs. */
export function parseYamlBody(text: string): Json {
  if (/^\s*\{/.test(text)) return parseJsonBody(text);
  let value: Json;
  try {
    // Plain values have no other kinds than those of JSON.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    value = (parseYaml(text)[0] ?? null) as Json;
  } catch (error) {
    throw badRequest(`the body of the request is not valid YAML: ${messageOf(error)}`);
  }
  checkHostile(value, 0);
  return value;
}

/**
 * Rejects input that no API object needs and that has broken servers before: very deep nesting, and keys that name the
 * prototype.
 */
export function checkHostile(value: Json | undefined, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > depthLimit) throw badRequest(`the body of the request is nested deeper than ${depthLimit} levels`);
  if (isArray(value)) {
    for (const item of value) checkHostile(item, depth + 1);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key === "__proto__")
      throw badRequest('the body of the request holds the key "__proto__", which is not accepted');
    checkHostile(value[key], depth + 1);
  }
}

/** Scans a text before it is parsed, so that a bomb of brackets never becomes objects. Ignores brackets in strings. */
function checkDepth(text: string): void {
  let depth = 0;
  let insideString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (insideString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) insideString = false;
    } else if (code === 0x22) insideString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > depthLimit) throw new Error(`nested deeper than ${depthLimit} levels`);
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
}

/** Rejects whole numbers that a double cannot hold, since storing a rounded one would be a silent change. */
function rejectRounding(this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new Error(`the number ${context?.source ?? value} at "${key}" is beyond 2^53 and cannot be stored exactly`);
  }
  return value;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
