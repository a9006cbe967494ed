import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "../json/json.ts";
import { decodeProtobufObject, protobufType } from "../protobuf/decode-object.ts";
import type { WatchStream } from "../faults/watch-stream.ts";
import type { Access } from "../verbs/reviews.ts";
import { checkHostile, parseJsonBody, parseYamlBody, readBody } from "./body.ts";

/** A request that is being served. */
export interface ApiRequest {
  readonly method: string;
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
  /** The user and the authorizer of the request. */
  readonly access: Access;
  /** Opens the stream for the lines of a watch, with the effects of faults. */
  openStream(): WatchStream;
}

/** The media type of a request's body, without parameters. */
export function mediaTypeOf(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** Reads the body of a request; undefined when it is empty. Reads YAML and protobuf by the media type. */
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
