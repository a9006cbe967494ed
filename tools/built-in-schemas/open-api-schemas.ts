/** A schema of an OpenAPI document, as far as types are read out of it. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-group-version-kind"?: readonly { readonly group: string; readonly kind: string }[];
}

/** The schemas of documents, by their full names. */
export type OpenApiSchemas = Record<string, OpenApiSchema>;

interface OpenApiDocument {
  readonly components: { readonly schemas: OpenApiSchemas };
}

/** The schemas of one document. Throws when the text is none; `place` names it in the error. */
export function readOpenApiSchemas(text: string, place: string): OpenApiSchemas {
  const document: unknown = JSON.parse(text);
  if (!isDocument(document)) throw new Error(`/openapi/v3/${place} has no components.schemas`);
  return document.components.schemas;
}

function isDocument(value: unknown): value is OpenApiDocument {
  if (typeof value !== "object" || value === null || !("components" in value)) return false;
  const { components } = value;
  return typeof components === "object" && components !== null && "schemas" in components;
}
