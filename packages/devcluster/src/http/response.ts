import type { ServerResponse } from "node:http";
import { resetIfLost } from "../faults/lost-responses.ts";
import type { JsonObject } from "../json/json.ts";
import type { StatusError } from "../errors/status-error.ts";
import { textOf } from "../storage/object-text.ts";

/** Sends a JSON response; warnings become `Warning` headers, which kubectl prints. */
export function sendJson(
  response: ServerResponse,
  code: number,
  body: JsonObject,
  options: { readonly warnings?: readonly string[] | undefined; readonly contentType?: string } = {},
): void {
  if (resetIfLost(response)) return;
  const text = textOf(body);
  response.statusCode = code;
  response.setHeader("content-type", options.contentType ?? "application/json");
  response.setHeader("content-length", Buffer.byteLength(text));
  response.setHeader("cache-control", "no-cache, private");
  const warnings = options.warnings ?? [];
  if (warnings.length > 0)
    response.setHeader(
      "warning",
      warnings.map((text) => `299 - "${headerSafe(text)}"`),
    );
  // A text is sent together with the head in one write; bytes would take two.
  response.end(text);
}

/** Sends plain text, as health checks and unknown paths do. */
export function sendText(response: ServerResponse, code: number, text: string): void {
  if (resetIfLost(response)) return;
  response.writeHead(code, { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** Sends bytes of another media type. */
export function sendBytes(response: ServerResponse, code: number, body: Buffer, contentType: string): void {
  if (resetIfLost(response)) return;
  response.writeHead(code, { "content-type": contentType, "content-length": body.length });
  response.end(body);
}

/** Sends an error as a Status. */
export function sendError(response: ServerResponse, error: StatusError): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  sendJson(response, error.code, error.toStatus());
}

function headerSafe(text: string): string {
  return text
    .replaceAll(/[^\u0020-\u007E]/g, "?")
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .slice(0, 1000);
}
