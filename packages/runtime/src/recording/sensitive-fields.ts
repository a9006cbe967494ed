import type { PlaceholderKind } from "./placeholders.ts";

/** Fields of requests and answers whose values must not be seen, whatever they are: names in lower case, without punctuation. */
const kinds: ReadonlyMap<string, PlaceholderKind> = new Map<string, PlaceholderKind>([
  ["accesskeyid", "key"],
  ["awsaccesskeyid", "key"],
  ["secretaccesskey", "secret"],
  ["sessiontoken", "token"],
  ["webidentitytoken", "token"],
  ["accesstoken", "token"],
  ["idtoken", "token"],
  ["refreshtoken", "token"],
  ["subjecttoken", "token"],
  ["assertion", "token"],
  ["clientassertion", "token"],
  ["clientsecret", "secret"],
  ["password", "secret"],
  ["adminpassword", "secret"],
  ["privatekey", "secret"],
  ["keydata", "secret"],
  ["userdata", "user-data"],
  ["customdata", "user-data"],
  ["nexttoken", "page-token"],
  ["nextpagetoken", "page-token"],
  ["pagetoken", "page-token"],
  ["skiptoken", "page-token"],
]);

/** What a field holds that must not be seen; undefined for others. Of a path, `LaunchSpecification.1.UserData`, the last part counts. */
export const kindOfField = (field: string): PlaceholderKind | undefined =>
  kinds.get((field.split(".").at(-1) ?? "").toLowerCase().replaceAll(/[^a-z]/g, ""));

const credentialHeaders: ReadonlySet<string> = new Set(["authorization", "cookie", "token"]);

/** Whether a field has a name of which the value must not be seen. */
export const isSensitiveField = (field: string): boolean =>
  kindOfField(field) !== undefined || credentialHeaders.has(field.toLowerCase());

/** Calls `replace` for the value of each field of a JSON document that must not be seen, and gives the document with what it answers. */
export function mapJsonFields(document: unknown, replace: (kind: PlaceholderKind, value: string) => string): unknown {
  if (Array.isArray(document)) return document.map((item) => mapJsonFields(item, replace));
  if (typeof document !== "object" || document === null) return document;
  // Metadata of instances: user data, keys, and whatever people put there.
  const isEntry = "key" in document && "value" in document;
  return Object.fromEntries(
    Object.entries(document).map(([name, value]: [string, unknown]) => {
      const kind = isEntry && name === "value" ? "user-data" : kindOfField(name);
      return [
        name,
        kind !== undefined && typeof value === "string" ? replace(kind, value) : mapJsonFields(value, replace),
      ];
    }),
  );
}

/** The same for a form, or the query of a URL. */
export function mapFormFields(form: string, replace: (kind: PlaceholderKind, value: string) => string): string {
  return form
    .split("&")
    .map((pair) => {
      const [[name = "", value = ""] = []] = new URLSearchParams(pair);
      const kind = kindOfField(name);
      return kind === undefined
        ? pair
        : `${pair.slice(0, pair.indexOf("=") + 1)}${encodeURIComponent(replace(kind, value))}`;
    })
    .join("&");
}

/** The same for XML without attributes, as the query protocol of AWS has it. */
export function mapXmlFields(xml: string, replace: (kind: PlaceholderKind, value: string) => string): string {
  return xml.replaceAll(/<(\w+)>([^<]+)</g, (whole, name: string, value: string) => {
    const kind = kindOfField(name);
    return kind === undefined
      ? whole
      : `<${name}>${replace(kind, value).replaceAll("<", "&lt;").replaceAll(">", "&gt;")}<`;
  });
}
