import type { JsonObject } from "../json/json.ts";

/** `GET /openapi/v2`: a document without schemas. Clients find those in v3. */
const document: JsonObject = {
  swagger: "2.0",
  info: { title: "Kubernetes", version: "v1.35.0" },
  paths: {},
  definitions: {},
};

/**
 * The only media type in which kubectl reads OpenAPI v2: the name that it accepts, and the one that it can parse in a response.
 */
const acceptedType = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const answeredType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/**
 * The (empty) OpenAPI v2 document. kubectl falls back to it for kinds that v3 does not describe, such as `v1 List`, and
 * fails when it is missing.
 */
export function openApiV2(accept: string | undefined): { readonly contentType: string; readonly body: Buffer } {
  if (accept?.includes(acceptedType) === true) return { contentType: answeredType, body: encoded };
  return { contentType: "application/json", body: Buffer.from(JSON.stringify(document)) };
}

/** The document as a protobuf message: field 1 `swagger`, field 2 `info` with `title` and `version`. */
const encoded = Buffer.concat([
  textField(1, "2.0"),
  bytesField(2, Buffer.concat([textField(1, "Kubernetes"), textField(2, "v1.35.0")])),
]);

function textField(number: number, text: string): Buffer {
  return bytesField(number, Buffer.from(text, "utf8"));
}

/** A length-delimited field; all of these are shorter than 128 bytes. */
function bytesField(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}
