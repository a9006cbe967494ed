import { arrayAt, at, entriesOf, field, jsonEqual, type JsonObject, objectAt, stringAt } from "../../json/json.ts";
import { forbiddenValue, invalidValue, notSupported, required, tooLong } from "../../errors/field-errors.ts";
import { plainText } from "../../json/quoting.ts";
import { badRequest, type Cause } from "../../errors/status-error.ts";
import { qualifiedNameErrors } from "../../objects/names.ts";
import type { SchemaPipeline } from "../../resources/resource-definition.ts";

/** The defaults and checks of a built-in kind beyond the common ones. */
interface BuiltInRules {
  readonly prepare?: (object: JsonObject) => JsonObject;
  readonly complete?: (object: JsonObject) => JsonObject;
  readonly validate?: (object: JsonObject, live: JsonObject | undefined, part: "all" | "status") => readonly Cause[];
}

/** The pipeline of a built-in kind: defaults that other clients rely on, and a few required fields. */
export function builtInPipeline({ prepare, complete, validate }: BuiltInRules = {}): SchemaPipeline {
  return {
    prepare: (object) => ({ object: prepare?.(object) ?? object, unknown: [] }),
    ...(complete === undefined ? {} : { complete }),
    validate: (object, live, part = "all") => validate?.(object, live, part) ?? [],
  };
}

function requireText(object: JsonObject, ...path: readonly string[]): readonly Cause[] {
  const value = stringAt(object, ...path);
  return value === undefined || value === "" ? [required(path.join("."))] : [];
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Secrets: `stringData` becomes `data`, values are base64, the default type is Opaque. */
export const secretPipeline = builtInPipeline({
  prepare(secret) {
    const written = objectAt(secret, "stringData");
    const { stringData: _dropped, ...rest } = secret;
    const data = { ...objectAt(secret, "data") };
    for (const value of Object.values(data)) rejectInvalidBase64("Secret", plainText(value));
    for (const [key, value] of entriesOf(written)) data[key] = Buffer.from(plainText(value), "utf8").toString("base64");
    const type = stringAt(secret, "type");
    return {
      ...rest,
      ...(Object.keys(data).length === 0 ? {} : { data }),
      type: type === undefined || type === "" ? "Opaque" : type,
    };
  },
  validate: (secret, live) => [
    ...keyProblems(secret, "data"),
    ...sizeProblems(secret, ["data"], "data"),
    ...(requiredKeys[stringAt(secret, "type") ?? ""] ?? []).flatMap((key) =>
      at(secret, "data", key) === undefined ? [required(`data[${key}]`)] : [],
    ),
    ...typeProblems(secret, live),
    ...immutableProblems(secret, live, ["data"]),
  ],
});

/** The required keys of a secret of a known type. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

function typeProblems(secret: JsonObject, live: JsonObject | undefined): readonly Cause[] {
  if (live === undefined || jsonEqual(at(live, "type"), at(secret, "type"))) return [];
  return [invalidValue("type", at(secret, "type") ?? "", "field is immutable")];
}

/** Throws 400 in the words of Go's decoder, without the value, which may be an unencoded secret. */
function rejectInvalidBase64(kind: string, text: string): void {
  const compact = text.replaceAll(/[\r\n]/g, "");
  if (base64.test(compact)) return;
  const offset = /^[A-Za-z0-9+/]*/.exec(compact)?.[0].length ?? 0;
  throw badRequest(
    `${kind} in version "v1" cannot be handled as a ${kind}: illegal base64 data at input byte ${offset}`,
  );
}

function keyProblems(object: JsonObject, part: string): readonly Cause[] {
  return entriesOf(field(object, part)).flatMap(([key]): Cause[] => {
    const wrong = (why: string): Cause => invalidValue(`${part}[${key}]`, key, why);
    if (key.length > 253) return [wrong("must be no more than 253 characters")];
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
      return [
        wrong(
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  " +
            "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
      ];
    }
    return key === "." || key === ".." ? [wrong(`must not be '${key}'`)] : [];
  });
}

function immutableProblems(
  object: JsonObject,
  live: JsonObject | undefined,
  parts: readonly string[],
): readonly Cause[] {
  if (field(live, "immutable") !== true) return [];
  return [
    ...(field(object, "immutable") === true ? [] : ["immutable"]),
    ...parts.filter((part) => !jsonEqual(field(live, part) ?? {}, field(object, part) ?? {})),
  ].map((name) => forbiddenValue(name, "field is immutable when `immutable` is set"));
}

/** The maximum total size of the values of a ConfigMap or Secret. */
const dataLimitBytes = 1024 * 1024;

function sizeProblems(object: JsonObject, parts: readonly string[], path: string): readonly Cause[] {
  const size = parts.reduce(
    (sum, part) =>
      sum +
      entriesOf(field(object, part)).reduce((own, [, value]) => {
        const text = plainText(value);
        return own + (part === "data" && path !== "data" ? Buffer.byteLength(text) : Buffer.byteLength(text, "base64"));
      }, 0),
    0,
  );
  return size <= dataLimitBytes ? [] : [tooLong(path, dataLimitBytes)];
}

/** ConfigMaps: valid keys, each with text or binary data. */
export const configMapPipeline = builtInPipeline({
  prepare(map) {
    for (const [, value] of entriesOf(field(map, "binaryData"))) rejectInvalidBase64("ConfigMap", plainText(value));
    return map;
  },
  validate: (map, live) => [
    ...keyProblems(map, "data"),
    ...entriesOf(field(map, "data")).flatMap(([key]): Cause[] =>
      at(map, "binaryData", key) === undefined
        ? []
        : [invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData")],
    ),
    ...keyProblems(map, "binaryData"),
    ...sizeProblems(map, ["data", "binaryData"], "[]"),
    ...immutableProblems(map, live, ["data", "binaryData"]),
  ],
});

/** Namespaces: the finalizer and the phase of their deletion. */
export const namespacePipeline = builtInPipeline({
  prepare(namespace) {
    const name = stringAt(namespace, "metadata", "name") ?? "";
    const metadata = objectAt(namespace, "metadata");
    return {
      ...namespace,
      metadata: { ...metadata, labels: { ...objectAt(metadata, "labels"), "kubernetes.io/metadata.name": name } },
    };
  },
  complete: (namespace) => ({
    ...namespace,
    spec: { finalizers: ["kubernetes"], ...objectAt(namespace, "spec") },
    status: { phase: "Active", ...objectAt(namespace, "status") },
  }),
  validate(namespace) {
    const phase = stringAt(namespace, "status", "phase") ?? "";
    const isGoing = stringAt(namespace, "metadata", "deletionTimestamp") !== undefined;
    if (phase === "" || (phase === "Active") !== isGoing) return [];
    const [wanted, when] = isGoing ? ["Terminating", "is not empty"] : ["Active", "is empty"];
    return [invalidValue("status.Phase", phase, `may only be '${wanted}' if \`deletionTimestamp\` ${when}`)];
  },
});

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** An empty `v1.NodeSystemInfo` as Go writes it. */
const emptyNodeInfo: JsonObject = Object.fromEntries(
  [
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
  ].map((key) => [key, ""]),
);

/** Nodes: both forms of the pod CIDR, the status fields that are always written, taints with known effects. */
export const nodePipeline = builtInPipeline({
  prepare(node) {
    const cidr = stringAt(node, "spec", "podCIDR");
    const status = objectAt(node, "status");
    const { capacity, allocatable = capacity } = status;
    return {
      ...node,
      ...(capacity === undefined ? {} : { status: { ...status, allocatable } }),
      ...(cidr && at(node, "spec", "podCIDRs") === undefined
        ? { spec: { ...objectAt(node, "spec"), podCIDRs: [cidr] } }
        : {}),
    };
  },
  complete: (node) => ({
    ...node,
    spec: objectAt(node, "spec"),
    status: {
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      ...objectAt(node, "status"),
      nodeInfo: { ...emptyNodeInfo, ...objectAt(node, "status", "nodeInfo") },
    },
  }),
  validate: (node, live) => [
    ...arrayAt(node, "spec", "taints").flatMap((taint, index): Cause[] => {
      const effect = stringAt(taint, "effect") ?? "";
      const key = stringAt(taint, "key") ?? "";
      const place = `metadata.taints[${index}]`;
      const keyProblems = qualifiedNameErrors(key).map((why) => invalidValue(`${place}.key`, key, why));
      if (taintEffects.includes(effect)) return keyProblems;
      if (effect === "") return [...keyProblems, required(`${place}.effect`)];
      return [...keyProblems, notSupported(`${place}.effect`, effect, taintEffects)];
    }),
    ...changedOnce(node, live, "spec", "providerID"),
  ],
});

/** A field that is immutable once it is set. */
function changedOnce(object: JsonObject, live: JsonObject | undefined, ...path: readonly string[]): readonly Cause[] {
  const before = stringAt(live, ...path);
  if (!before || stringAt(object, ...path) === before) return [];
  return [forbiddenValue(path.join("."), 'node updates may not change providerID except from "" to valid')];
}

/** VolumeAttachments require a driver, a node and a source. */
export const volumeAttachmentPipeline = builtInPipeline({
  prepare: (attachment) => ({ ...attachment, status: { attached: false, ...objectAt(attachment, "status") } }),
  validate: (attachment) => [
    ...requireText(attachment, "spec", "attacher"),
    ...requireText(attachment, "spec", "nodeName"),
  ],
});

/** PersistentVolumes and claims: the initial phase, and the access modes. */
export function volumePipeline(firstPhase: string): SchemaPipeline {
  return builtInPipeline({
    prepare: (volume) => ({
      ...volume,
      spec: { volumeMode: "Filesystem", ...objectAt(volume, "spec") },
      status: { phase: firstPhase, ...objectAt(volume, "status") },
    }),
    validate: (volume) => (arrayAt(volume, "spec", "accessModes").length === 0 ? [required("spec.accessModes")] : []),
  });
}

/** StorageClasses require a provisioner. */
export const storageClassPipeline = builtInPipeline({
  prepare: (storageClass) => ({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate", ...storageClass }),
  validate: (storageClass) => requireText(storageClass, "provisioner"),
});

/** Leases: durations above zero. */
export const leasePipeline = builtInPipeline({
  validate(lease) {
    const duration = at(lease, "spec", "leaseDurationSeconds");
    if (typeof duration !== "number" || duration > 0) return [];
    return [invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0")];
  },
});

/** Events: the namespace of an event is that of its object. */
export const eventPipeline = builtInPipeline({
  prepare: (event) => ({ type: "Normal", ...event }),
});
