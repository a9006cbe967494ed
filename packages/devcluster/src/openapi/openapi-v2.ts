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

/** The document as a protobuf message: `swagger`, and `info` with `title` and `version`. */
const encoded = Buffer.from("\n\u00032.0\u0012\u0015\n\nKubernetes\u0012\u0007v1.35.0", "latin1");
