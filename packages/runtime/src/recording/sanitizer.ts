import type { SecretData } from "@millwright/base";
import { type CloudExchange, userDataKey } from "@millwright/core";
import { createPlaceholders, isPlaceholder, type PlaceholderKind } from "./placeholders.ts";
import { createProtectedValues } from "./protected-values.ts";
import { mapFormFields, mapJsonFields, mapXmlFields } from "./sensitive-fields.ts";

/** Where clouds write whose account, subscription, tenant or project it is, and who asks. */
const patterns: readonly (readonly [PlaceholderKind, RegExp])[] = [
  ["account", /\barn:aws[\w-]*:[\w-]*:[\w-]*:(\d{12}):/g],
  ["account", /<(?:ownerId|imageOwnerId|requesterId|accountId|Account)>(\d{12})</g],
  ["subscription", /\/subscriptions\/([\w-]+)/gi],
  ["subscription", /"subscriptionId": ?"([\w-]+)"/gi],
  ["tenant", /^https:\/\/[^/]+\/([\w-]+)\/(?:oauth2|v2\.0)\//g],
  ["tenant", /"(?:home)?tenantId": ?"([\w-]+)"/gi],
  ["tenant", /\bsts\.windows\.net\/([\w-]+)/gi],
  ["client", /\bclient_id=([\w-]+)/g],
  ["client", /"(?:client|principal|object)Id": ?"([\w-]+)"/gi],
  ["project", /\bprojects\/([a-z0-9][a-z0-9:.-]*)/g],
  ["service-account", /\b([\w.-]+@[\w.-]+\.gserviceaccount\.com)\b/g],
  ["email", /\b([\w.+-]+@[\w-]+(?:\.[\w-]+)+)\b/g],
];

/** Calls `found` for everything in a text that identifies the owner of an account. */
function findIdentities(text: string, found: (kind: PlaceholderKind, value: string) => void): void {
  for (const [kind, pattern] of patterns) {
    for (const [, value = ""] of text.matchAll(pattern)) found(kind, value);
  }
}

/** Takes out of exchanges what must not be seen. The same value has the same placeholder, as long as this object lives. */
export interface Sanitizer {
  /** Protects the values of a class secret from here on. */
  protect(secret: SecretData): void;
  /** An exchange without secrets; one in which a secret is left nevertheless has no bodies. */
  sanitize(exchange: CloudExchange): CloudExchange;
}

/** Headers that describe a body, or what to do next. Others, credentials among them, are left out. */
const keptHeaders: ReadonlySet<string> = new Set([
  "accept",
  "azure-asyncoperation",
  "content-type",
  "if-match",
  "if-none-match",
  "location",
  "retry-after",
  "x-ms-error-code",
]);

/** What a value of a class secret is, by its key or by the name of a field of it. */
function kindOfKey(key: string): PlaceholderKind {
  const name = key.toLowerCase().replaceAll(/[^a-z]/g, "");
  if (name === userDataKey.toLowerCase() || name === "userdataofthemachine") return "user-data";
  if (name === "subscriptionid") return "subscription";
  if (name === "tenantid") return "tenant";
  if (name === "clientid") return "client";
  if (name === "accesskeyid") return "key";
  if (name === "projectid") return "project";
  if (name === "clientemail") return "service-account";
  return "secret";
}

const names: ReadonlySet<PlaceholderKind> = new Set(["subscription", "tenant", "client", "project", "service-account"]);

/** Fields of a service account that are the same for everybody. */
const isPublic = (name: string, value: string): boolean =>
  value.startsWith("https://") || ["type", "universe_domain", "subject_token_type"].includes(name);

/** Creates a sanitizer that knows nothing yet. */
export function createSanitizer(): Sanitizer {
  const placeholders = createPlaceholders();
  const values = createProtectedValues(placeholders);

  const protect = (kind: PlaceholderKind, value: string | Uint8Array): void => {
    const text = Buffer.from(value).toString("utf8");
    if (isPlaceholder(text)) return;
    if (names.has(kind)) values.addName(kind, text);
    else values.addSecret(kind, value);
  };

  const replaceField = (kind: PlaceholderKind, value: string): string => {
    // It may be known already, as the base64 of something else.
    const known = values.replaceIn(value);
    if (isPlaceholder(known)) return known;
    protect(kind, value);
    return placeholders.nameOf(kind, names.has(kind) ? value.toLowerCase() : value);
  };

  const cleanBody = (body: string): string => {
    if (/^\s*[[{]/.test(body)) {
      try {
        const document: unknown = JSON.parse(body);
        return JSON.stringify(mapJsonFields(document, replaceField));
      } catch {
        return body;
      }
    }
    if (/^\s*</.test(body)) return mapXmlFields(body, replaceField);
    return /^[\w.%$-]+=/.test(body) ? mapFormFields(body, replaceField) : body;
  };

  const cleanUrl = (url: string): string => {
    const [address = "", query] = url.split("?", 2);
    return query === undefined ? address : `${address}?${mapFormFields(query, replaceField)}`;
  };

  const cleanHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        keptHeaders.has(name.toLowerCase()) ? [[name.toLowerCase(), values.replaceIn(cleanUrl(value))]] : [],
      ),
    );

  return {
    protect(secret) {
      for (const [key, value] of Object.entries(secret)) {
        protect(kindOfKey(key), value.revealBytes());
        for (const [name, field] of fieldsOf(value.reveal()))
          if (!isPublic(name, field)) protect(kindOfKey(name), field);
      }
    },
    sanitize(exchange) {
      const { url, requestBody, responseBody, requestHeaders, responseHeaders } = exchange;
      // First what is learned, then what is replaced: the answer may name what is in the request.
      const parts = {
        url: cleanUrl(url),
        requestBody: cleanBody(requestBody),
        responseBody: cleanBody(responseBody ?? ""),
      };
      const learned = [url, requestBody, responseBody ?? "", ...Object.values(responseHeaders ?? {}).map(String)];
      for (const text of learned) findIdentities(text, (kind, value) => values.addName(kind, value));
      const clean: CloudExchange = {
        ...exchange,
        url: values.replaceIn(parts.url),
        requestHeaders: cleanHeaders(requestHeaders),
        requestBody: values.replaceIn(parts.requestBody),
        ...(responseHeaders === undefined ? {} : { responseHeaders: cleanHeaders(responseHeaders) }),
        ...(responseBody === undefined ? {} : { responseBody: values.replaceIn(parts.responseBody) }),
      };
      return values.hasSecret(JSON.stringify(clean))
        ? {
            method: exchange.method,
            url: "",
            requestHeaders: {},
            requestBody: "",
            seconds: exchange.seconds,
            error: "withheld",
          }
        : clean;
    },
  };
}

/** The fields of a secret that is JSON, such as the key of a service account. */
function fieldsOf(text: string): readonly (readonly [string, string])[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return [];
    return Object.entries(parsed).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    );
  } catch {
    return [];
  }
}
