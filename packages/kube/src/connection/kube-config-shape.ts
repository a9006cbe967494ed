import { isRecord } from "@millwright/base";

/** What a value of a kubeconfig may be. A value that is null or absent is not set, whatever it may be. */
type Shape =
  | "text"
  | "boolean"
  | "base64"
  | "anything"
  | { readonly listOf: Shape }
  | { readonly mapOf: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

const named = (field: string, fields: Readonly<Record<string, Shape>>): Shape => ({
  listOf: { fields: { name: "text", [field]: { fields } } },
});

/** Source: client-go, clientcmd/api/v1, `Config`. */
const kubeConfigShape: Shape = {
  fields: {
    apiVersion: "text",
    kind: "text",
    "current-context": "text",
    clusters: named("cluster", {
      server: "text",
      "tls-server-name": "text",
      "insecure-skip-tls-verify": "boolean",
      "certificate-authority": "text",
      "certificate-authority-data": "base64",
      "proxy-url": "text",
      extensions: { listOf: { fields: { name: "text", extension: "anything" } } },
    }),
    users: named("user", {
      "client-certificate": "text",
      "client-certificate-data": "base64",
      "client-key": "text",
      "client-key-data": "base64",
      token: "text",
      tokenFile: "text",
      as: "text",
      "as-uid": "text",
      "as-groups": { listOf: "text" },
      "as-user-extra": { mapOf: { listOf: "text" } },
      username: "text",
      password: "text",
      "auth-provider": { fields: { name: "text", config: { mapOf: "text" } } },
      exec: {
        fields: {
          command: "text",
          args: { listOf: "text" },
          env: { listOf: { fields: { name: "text", value: "text" } } },
          apiVersion: "text",
          installHint: "text",
          provideClusterInfo: "boolean",
          interactiveMode: "text",
        },
      },
    }),
    contexts: named("context", { cluster: "text", user: "text", namespace: "text" }),
  },
};

/** Words for values that are not what they should be; a value itself may be a secret. */
const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "a list" : value instanceof Object ? "a mapping" : `a ${typeof value}`;

function expected(path: string, what: string, value: unknown): Error {
  const isUnquoted = what === "a text" && typeof value !== "object";
  return new Error(`${path}: expected ${what}, found ${kindOf(value)}${isUnquoted ? "; write it in quotes" : ""}`);
}

const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]*={0,2}$/.test(text.replaceAll(/[\r\n]/g, ""));

function readScalar(value: unknown, shape: "text" | "boolean" | "base64", path: string): unknown {
  const isBoolean = shape === "boolean";
  if (typeof value !== (isBoolean ? "boolean" : "string"))
    throw expected(path, isBoolean ? "true or false" : "a text", value);
  if (shape === "base64" && !isBase64(String(value))) throw new Error(`${path} is not base64`);
  return value;
}

function readValue(value: unknown, shape: Shape, path: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (shape === "anything") return value;
  if (typeof shape === "string") return readScalar(value, shape, path);
  if ("listOf" in shape) {
    if (!Array.isArray(value)) throw expected(path, "a list", value);
    return value.map((item, index) => readValue(item, shape.listOf, `${path}[${index}]`));
  }
  if (!isRecord(value) || Array.isArray(value)) throw expected(path, "a mapping", value);
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const keys = "mapOf" in shape ? Object.keys(value) : Object.keys(shape.fields);
  const read = keys.map((key) => {
    const inner = "mapOf" in shape ? shape.mapOf : (shape.fields[key] ?? "anything");
    return [key, Object.hasOwn(value, key) ? readValue(value[key], inner, at(key)) : undefined] as const;
  });
  return Object.fromEntries(read.filter(([, found]) => found !== undefined));
}

/**
 * A kubeconfig without fields that kubectl does not know.
 *
 * @param value the YAML as a value; null or undefined is an empty file
 * @throws Error that names the field and what is expected. As for kubectl, each value of the file counts, also those that are not used
 */
export function readKubeConfigShape(value: unknown): Readonly<Record<string, unknown>> {
  if (value != null && (!isRecord(value) || Array.isArray(value)))
    throw new Error("expected a YAML mapping with clusters, users and contexts");
  const read = readValue(value ?? {}, kubeConfigShape, "");
  if (!isRecord(read)) throw new TypeError("a mapping is read as one");
  const { apiVersion = "v1", kind = "Config" } = read;
  if ((apiVersion !== "" && apiVersion !== "v1") || (kind !== "" && kind !== "Config"))
    throw new Error(`it is ${String(kind)} of ${String(apiVersion)}; expected Config of v1`);
  for (const list of ["clusters", "users", "contexts"]) {
    const entries = read[list];
    const names = Array.isArray(entries) ? entries.filter(isRecord).map(({ name }) => name) : [];
    const twice = names.find((name, index) => typeof name === "string" && names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`${list}: the name ${JSON.stringify(twice)} occurs twice`);
  }
  return read;
}
