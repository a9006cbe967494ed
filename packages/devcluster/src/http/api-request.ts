import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../json.ts";
import { parseJsonBody, parseYamlBody, readBody } from "./body.ts";

/** A request on its way through the server. */
export interface ApiRequest {
  readonly method: string;
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
}

/** The media type of a request's body, without parameters. */
export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Reads the body of a request; undefined when it is empty. YAML is read where its media type says so. */
export async function readJsonBody(request: IncomingMessage): Promise<Json | undefined> {
  const text = await readBody(request);
  if (text.trim() === "") return undefined;
  return mediaTypeOf(request).includes("yaml") ? parseYamlBody(text) : parseJsonBody(text);
}
