import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../json/json.ts";
import { decodeProtobufObject, protobufType } from "../protobuf/decode-object.ts";
import type { WatchStream } from "../faults/watch-stream.ts";
import type { Access } from "../verbs/reviews.ts";
import { checkHostile, parseJsonBody, parseYamlBody, readBody } from "./body.ts";

/** A request on its way through the server. */
export interface ApiRequest {
  readonly method: string;
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  /** Who asks, and who decides what they may do. */
  readonly access: Access;
  /** Starts the answer of a watch: what carries its lines, with the faults that strike them. */
  openStream(): WatchStream;
}

/** The media type of a request's body, without parameters. */
export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Reads the body of a request; undefined when it is empty. YAML and protobuf are read where the media type says so. */
export async function readJsonBody(request: IncomingMessage): Promise<Json | undefined> {
  const body = await readBody(request);
  const mediaType = mediaTypeOf(request);
  if (mediaType === protobufType) {
    const object = body.length === 0 ? undefined : decodeProtobufObject(body);
    checkHostile(object, 0);
    return object;
  }
  const text = body.toString("utf8");
  if (text.trim() === "") return undefined;
  return mediaType.includes("yaml") ? parseYamlBody(text) : parseJsonBody(text);
}
