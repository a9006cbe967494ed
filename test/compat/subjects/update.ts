import { del, get, isJsonObject, type JsonObject, post, put, subject } from "../request-script.ts";
import { configMap, configMaps, lease, leases, node, nodes, pod, pods, secrets } from "./sample-objects.ts";

const withData = (object: JsonObject, data: JsonObject): JsonObject => ({ ...object, data });
const withMetadata = (object: JsonObject, metadata: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(isJsonObject(object["metadata"]) ? object["metadata"] : {}), ...metadata },
});

/** Updates: optimistic concurrency and immutable fields. */
export const update = subject("update", [
  post("create", configMaps, configMap("a", { k: "1" })),
  put("replace", `${configMaps}/a`, (seen) => withData(seen("create"), { k: "2" })),
  put("replace with the old version", `${configMaps}/a`, (seen) => withData(seen("create"), { k: "3" })),
  put("replace without a version", `${configMaps}/a`, configMap("a", { k: "4" })),
  put("replace with the same", `${configMaps}/a`, configMap("a", { k: "4" })),
  get("the version is still that of the last change", `${configMaps}/a`),
  put("replace with a version that is no number", `${configMaps}/a`, configMap("a", {}, { resourceVersion: "x" })),
  put("replace with version 0", `${configMaps}/a`, configMap("a", { k: "5" }, { resourceVersion: "0" })),
  put("replace with a version far ahead", `${configMaps}/a`, configMap("a", {}, { resourceVersion: "999999999" })),
  put(
    "replace with another uid",
    `${configMaps}/a`,
    configMap("a", {}, { uid: "11111111-2222-3333-4444-555555555555" }),
  ),
  put("replace with another name", `${configMaps}/a`, configMap("b")),
  put("replace without a name", `${configMaps}/a`, { apiVersion: "v1", kind: "ConfigMap", data: { k: "6" } }),
  put("replace with another namespace", `${configMaps}/a`, configMap("a", {}, { namespace: "elsewhere" })),
  put(
    "replace with another creation time",
    `${configMaps}/a`,
    configMap("a", { k: "7" }, { creationTimestamp: "2010-01-01T00:00:00Z" }),
  ),
  put(
    "replace with a deletion time",
    `${configMaps}/a`,
    configMap("a", { k: "8" }, { deletionTimestamp: "2010-01-01T00:00:00Z" }),
  ),
  put("replace with a generation", `${configMaps}/a`, configMap("a", { k: "9" }, { generation: 5 })),
  put("replace with bad labels", `${configMaps}/a`, configMap("a", {}, { labels: { "-": "x" } })),
  put("replace one that is missing", `${configMaps}/missing`, configMap("missing")),
  put(
    "replace one that is missing, with a version",
    `${configMaps}/missing`,
    configMap("missing", {}, { resourceVersion: "5" }),
  ),
  put("replace the collection", configMaps, configMap("a")),
  put("add labels", `${configMaps}/a`, (seen) =>
    withMetadata(configMap("a", { k: "1" }), {
      labels: { app: "x" },
      uid: (seen("create")["metadata"] as { readonly uid: string }).uid,
    }),
  ),
  put("remove labels", `${configMaps}/a`, configMap("a", { k: "1" })),
  post("an immutable one", configMaps, { ...configMap("fixed", { a: "1" }), immutable: true }),
  put("change the immutable one", `${configMaps}/fixed`, { ...configMap("fixed", { a: "2" }), immutable: true }),
  put("make it mutable", `${configMaps}/fixed`, configMap("fixed", { a: "1" })),
  put("label the immutable one", `${configMaps}/fixed`, {
    ...configMap("fixed", { a: "1" }, { labels: { a: "b" } }),
    immutable: true,
  }),
  post("a secret", secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, type: "example.io/own" }),
  put("change its type", `${secrets}/s`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    type: "example.io/other",
  }),
  post("a lease", leases, lease("l", { holderIdentity: "me" })),
  put("renew it", `${leases}/l`, (seen) => ({
    ...seen("a lease"),
    spec: { holderIdentity: "me", leaseDurationSeconds: 5 },
  })),
  put("renew it with the old version", `${leases}/l`, (seen) => ({
    ...seen("a lease"),
    spec: { holderIdentity: "you" },
  })),
  put("renew it without a version", `${leases}/l`, lease("l", { holderIdentity: "you" })),
  post("a pod", pods, pod("p")),
  put("change its image", `${pods}/p`, (seen) => ({
    ...seen("a pod"),
    spec: {
      ...(seen("a pod")["spec"] as JsonObject),
      containers: [
        { ...((seen("a pod")["spec"] as JsonObject)["containers"] as JsonObject[])[0], image: "registry.local/app:2" },
      ],
    },
  })),
  put("change what may not change", `${pods}/p`, pod("p", { nodeName: "elsewhere" })),
  post("a node", nodes, node("compat-update")),
  put("cordon", `${nodes}/compat-update`, (seen) => ({ ...seen("a node"), spec: { unschedulable: true } })),
  put("give it a provider id", `${nodes}/compat-update`, node("compat-update", { providerID: "mock:///1" })),
  put("change the provider id", `${nodes}/compat-update`, node("compat-update", { providerID: "mock:///2" })),
  put("its status through the main endpoint", `${nodes}/compat-update`, {
    ...node("compat-update", { providerID: "mock:///1" }),
    status: { phase: "Running" },
  }),
  del("delete it", `${nodes}/compat-update`),
]);
