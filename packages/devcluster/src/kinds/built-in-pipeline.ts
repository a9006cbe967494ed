import { arrayAt, at, entriesOf, field, isObject, type Json, type JsonObject, objectAt, stringAt } from "../json.ts";
import { quoted, plainText } from "../quoting.ts";
import type { Cause } from "../status.ts";
import type { SchemaPipeline } from "./resource-definition.ts";

/** What a built-in kind adds to the checks that are the same for all. */
interface BuiltInRules {
  readonly prepare?: (object: JsonObject) => JsonObject;
  readonly validate?: (object: JsonObject) => readonly Cause[];
}

/** The light pipeline of a built-in kind: defaults that other clients rely on, and a few required fields. */
export function builtInPipeline({ prepare, validate }: BuiltInRules = {}): SchemaPipeline {
  return {
    prepare: (object) => ({ object: prepare?.(object) ?? object, unknown: [] }),
    validate: (object) => validate?.(object) ?? [],
  };
}

function required(path: string): Cause {
  return { reason: "FieldValueRequired", message: "Required value", field: path };
}

function requireText(object: JsonObject, ...path: readonly string[]): readonly Cause[] {
  const value = stringAt(object, ...path);
  return value === undefined || value === "" ? [required(path.join("."))] : [];
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Secrets: `stringData` becomes `data`, values are base64, the type is Opaque unless given. */
export const secretPipeline = builtInPipeline({
  prepare(secret) {
    const written = objectAt(secret, "stringData");
    const { stringData: _dropped, ...rest } = secret;
    const data = { ...objectAt(secret, "data") };
    for (const [key, value] of entriesOf(written)) data[key] = Buffer.from(plainText(value), "utf8").toString("base64");
    const type = stringAt(secret, "type");
    return {
      ...rest,
      ...(Object.keys(data).length === 0 ? {} : { data }),
      type: type === undefined || type === "" ? "Opaque" : type,
    };
  },
  validate: (secret) =>
    entriesOf(field(secret, "data")).flatMap(([key, value]): Cause[] => {
      const path = `data[${key}]`;
      if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) {
        const message = `Invalid value: ${quoted(key)}: a valid config key must consist of alphanumeric characters, '-', '_' or '.'`;
        return [{ reason: "FieldValueInvalid", message, field: path }];
      }
      // The value itself stays out of the message: it may be a secret that somebody forgot to encode.
      return typeof value === "string" && base64.test(value.replaceAll(/\s/g, ""))
        ? []
        : [{ reason: "FieldValueInvalid", message: "Invalid value: the value must be base64 encoded", field: path }];
    }),
});

/** Config maps: string values only. */
export const configMapPipeline = builtInPipeline({
  validate: (map) =>
    entriesOf(field(map, "data")).flatMap(([key, value]) =>
      typeof value === "string"
        ? []
        : [
            {
              reason: "FieldValueInvalid",
              message: "Invalid value: the value must be a string",
              field: `data[${key}]`,
            },
          ],
    ),
});

function withContainerDefaults(container: Json): Json {
  if (!isObject(container)) return container;
  const ports = arrayAt(container, "ports").map((port) => (isObject(port) ? { protocol: "TCP", ...port } : port));
  return {
    imagePullPolicy: /:[^/]*$/.test(stringAt(container, "image") ?? "") ? "IfNotPresent" : "Always",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    ...(ports.length === 0 ? {} : { ports }),
  };
}

/** The defaults of a pod's spec that hold in templates as well. */
export function withTemplateDefaults(spec: JsonObject): JsonObject {
  const containers = field(spec, "containers");
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...spec,
    ...(Array.isArray(containers) ? { containers: containers.map(withContainerDefaults) } : {}),
  };
}

/** What is wrong with the spec of a pod, or of a template at `prefix`. */
export function podProblems(pod: Json | undefined, prefix = ""): readonly Cause[] {
  const containers = arrayAt(pod, "spec", "containers");
  if (containers.length === 0) return [required(`${prefix}spec.containers`)];
  return containers.flatMap((container, index) => [
    ...(stringAt(container, "name") ? [] : [required(`${prefix}spec.containers[${index}].name`)]),
    ...(stringAt(container, "image") ? [] : [required(`${prefix}spec.containers[${index}].image`)]),
  ]);
}

/** Pods: the defaults that kubelets and drains read, and containers with names and images. */
export const podPipeline = builtInPipeline({
  prepare(pod) {
    const spec = field(pod, "spec");
    if (!isObject(spec)) return pod;
    return {
      ...pod,
      spec: { enableServiceLinks: true, serviceAccountName: "default", ...withTemplateDefaults(spec) },
      status: { phase: "Pending", qosClass: "BestEffort", ...objectAt(pod, "status") },
    };
  },
  validate: (pod) => podProblems(pod),
});

/** Namespaces: the finalizer and phase that their deletion works through. */
export const namespacePipeline = builtInPipeline({
  prepare(namespace) {
    const name = stringAt(namespace, "metadata", "name") ?? "";
    const metadata = objectAt(namespace, "metadata");
    return {
      ...namespace,
      metadata: { ...metadata, labels: { ...objectAt(metadata, "labels"), "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"], ...objectAt(namespace, "spec") },
      status: { phase: "Active", ...objectAt(namespace, "status") },
    };
  },
});

/** Volume attachments name their driver, node and source. */
export const volumeAttachmentPipeline = builtInPipeline({
  prepare: (attachment) => ({ ...attachment, status: { attached: false, ...objectAt(attachment, "status") } }),
  validate: (attachment) => [
    ...requireText(attachment, "spec", "attacher"),
    ...requireText(attachment, "spec", "nodeName"),
  ],
});

/** Persistent volumes and claims start in the phases that their binder moves on from. */
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

/** Storage classes name a provisioner. */
export const storageClassPipeline = builtInPipeline({
  prepare: (storageClass) => ({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate", ...storageClass }),
  validate: (storageClass) => requireText(storageClass, "provisioner"),
});

/** Disruption budgets: `minAvailable` or `maxUnavailable`, not both. */
export const disruptionBudgetPipeline = builtInPipeline({
  validate(budget) {
    const both = ["minAvailable", "maxUnavailable"].every((key) => at(budget, "spec", key) !== undefined);
    if (!both) return [];
    const message = "Invalid value: minAvailable and maxUnavailable cannot be both set";
    return [{ reason: "FieldValueInvalid", message, field: "spec" }];
  },
});

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

/** Leases: times with exactly six fraction digits, as Go's MicroTime wants them. */
export const leasePipeline = builtInPipeline({
  validate: (lease) =>
    ["acquireTime", "renewTime"].flatMap((key): Cause[] => {
      const value = at(lease, "spec", key);
      if (value === undefined || value === null || (typeof value === "string" && microTime.test(value))) return [];
      const message = `Invalid value: ${quoted(value)}: must be a time of the form 2006-01-02T15:04:05.000000Z`;
      return [{ reason: "FieldValueInvalid", message, field: `spec.${key}` }];
    }),
});

/** Events: the namespace of an event is that of the object it is about. */
export const eventPipeline = builtInPipeline({
  prepare: (event) => ({ type: "Normal", ...event }),
});
