import { StatusError } from "../errors/status-error.ts";

/** The representation of a response that a client wants. */
export type Representation = "object" | "table" | "partial" | "partial-list";

/** A media type of an Accept header. */
export interface AcceptedType {
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Reads an Accept header. Entries keep their order, which is the order of preference in all Kubernetes clients. */
export function readAccept(header: string | undefined): readonly AcceptedType[] {
  const entries: AcceptedType[] = [];
  for (const part of (header ?? "*/*").split(",")) {
    const [mediaType, ...parameters] = part.split(";").map((piece) => piece.trim());
    if (mediaType === undefined || mediaType === "") continue;
    const pairs = parameters.map((parameter): [string, string] => {
      const equals = parameter.indexOf("=");
      return equals < 0 ? [parameter, ""] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
    });
    entries.push({ mediaType: mediaType.toLowerCase(), parameters: new Map(pairs) });
  }
  return entries;
}

/**
 * Picks the first supported representation of an Accept header. A client that accepts protobuf only gets JSON, since every
 * client decodes by the Content-Type of the response. Throws 406 when none is supported.
 */
export function negotiate(header: string | undefined): Representation {
  const accepted = readAccept(header);
  for (const { mediaType, parameters } of accepted) {
    if (!isJsonLike(mediaType)) continue;
    const as = parameters.get("as");
    if (as === undefined) return "object";
    if (parameters.get("g") !== "meta.k8s.io" || parameters.get("v") !== "v1") continue;
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata") return "partial";
    if (as === "PartialObjectMetadataList") return "partial-list";
  }
  if (accepted.some(({ mediaType }) => mediaType === "application/vnd.kubernetes.protobuf")) return "object";
  if (accepted.some(({ mediaType }) => isJsonLike(mediaType))) {
    throw new StatusError(
      406,
      "NotAcceptable",
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  }
  throw new StatusError(
    406,
    "NotAcceptable",
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    {},
  );
}

function isJsonLike(mediaType: string): boolean {
  return mediaType === "application/json" || mediaType === "*/*" || mediaType === "application/*";
}
