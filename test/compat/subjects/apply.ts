import { apply, del, get, mergePatch, post, put, subject } from "../request-script.ts";
import { configMap, configMaps, node, nodes, pod, pods } from "./sample-objects.ts";

const as = (path: string, manager: string, more = "") => `${path}?fieldManager=${manager}${more}`;
const a = `${configMaps}/a`;
const n = `${nodes}/compat-apply`;

/** Server-side apply: owners, conflicts, removal of fields without owners. */
export const serverSideApply = subject("apply", [
  apply("creates", as(a, "one"), configMap("a", { k: "1", l: "1" })),
  apply("again", as(a, "one"), configMap("a", { k: "1", l: "1" })),
  apply("another manager, the same value", as(a, "two"), configMap("a", { k: "1" })),
  apply("another manager, another field", as(a, "three"), configMap("a", { m: "1" }, { labels: { by: "three" } })),
  apply("another manager, another value", as(a, "two"), configMap("a", { k: "2" })),
  apply("two conflicts", as(a, "four"), configMap("a", { k: "3", l: "3" })),
  apply("forced", as(a, "two", "&force=true"), configMap("a", { k: "2" })),
  apply("the former owner drops it", as(a, "one"), configMap("a", { l: "1" })),
  apply("the owner drops its field", as(a, "one"), configMap("a")),
  apply("a shared field dropped by one", as(a, "three"), configMap("a", { m: "1" })),
  mergePatch("an update takes a field", as(a, "editor"), { data: { m: "2" } }),
  apply("which then is a conflict", as(a, "three"), configMap("a", { m: "1" })),
  put("a replace by another client", as(a, "replacer"), configMap("a", { k: "9" })),
  apply("conflict with a replace", as(a, "two"), configMap("a", { k: "2" })),
  apply("without a manager", a, configMap("a", { k: "1" })),
  apply("with an unprintable manager", as(a, "%07"), configMap("a", { k: "1" })),
  apply("with a manager that is too long", as(a, "m".repeat(129)), configMap("a", { k: "1" })),
  apply("without apiVersion", as(a, "one"), { kind: "ConfigMap", metadata: { name: "a" } }),
  apply("without kind", as(a, "one"), { apiVersion: "v1", metadata: { name: "a" } }),
  apply("of another kind", as(a, "one"), { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }),
  apply("of another name", as(a, "one"), configMap("b")),
  apply("without a name", as(`${configMaps}/unnamed`, "one"), {
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { k: "1" },
  }),
  apply("with managed fields", as(a, "one"), configMap("a", {}, { managedFields: [{ manager: "x" }] })),
  apply(
    "with a uid",
    as(`${configMaps}/missing`, "one"),
    configMap("missing", {}, { uid: "11111111-2222-3333-4444-555555555555" }),
  ),
  apply(
    "with a version, of one that is missing",
    as(`${configMaps}/missing`, "one"),
    configMap("missing", {}, { resourceVersion: "5" }),
  ),
  apply(
    "yaml",
    as(`${configMaps}/yaml`, "one"),
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  k: v\n",
  ),
  apply("broken yaml", as(`${configMaps}/yaml`, "one"), "apiVersion: v1\n  kind: ConfigMap\n bad"),
  apply("a text", as(`${configMaps}/yaml`, "one"), "just text"),
  apply("an unknown field", as(a, "one"), { ...configMap("a"), unknown: 1 }),
  apply("an unknown field, strict", as(a, "one", "&fieldValidation=Strict"), { ...configMap("a"), unknown: 1 }),
  apply("force on another patch", as(a, "one", "&force=maybe"), configMap("a")),
  mergePatch("force with a merge patch", as(a, "one", "&force=true"), { data: { k: "1" } }),
  apply("dry run", as(a, "two", "&dryRun=All&force=true"), configMap("a", { k: "dry" })),
  get("the end of the config map", a),
  apply("dry run of a creation", as(`${configMaps}/dry`, "two", "&dryRun=All"), configMap("dry", { k: "dry" })),
  get("nothing was created", `${configMaps}/dry`),
  apply(
    "a node",
    as(n, "one"),
    node("compat-apply", { taints: [{ key: "a", effect: "NoSchedule" }] }, { labels: { one: "1" } }),
  ),
  apply(
    "its taints by another manager",
    as(n, "two"),
    node("compat-apply", { taints: [{ key: "b", effect: "NoSchedule" }] }),
  ),
  apply("its status", as(`${n}/status`, "kubelet"), {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "compat-apply" },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          lastHeartbeatTime: "2010-01-01T00:00:00Z",
          lastTransitionTime: "2010-01-01T00:00:00Z",
        },
      ],
    },
  }),
  apply("a condition by another manager", as(`${n}/status`, "monitor"), {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "compat-apply" },
    status: {
      conditions: [
        {
          type: "Disk",
          status: "False",
          lastHeartbeatTime: "2010-01-01T00:00:00Z",
          lastTransitionTime: "2010-01-01T00:00:00Z",
        },
      ],
    },
  }),
  apply("the condition of the other", as(`${n}/status`, "monitor"), {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "compat-apply" },
    status: {
      conditions: [
        {
          type: "Ready",
          status: "False",
          lastHeartbeatTime: "2010-01-01T00:00:00Z",
          lastTransitionTime: "2010-01-01T00:00:00Z",
        },
      ],
    },
  }),
  apply("status of one that is missing", as(`${nodes}/compat-missing/status`, "one"), {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "compat-missing" },
    status: {},
  }),
  apply("finalizers", as(n, "one"), node("compat-apply", {}, { finalizers: ["example.io/a"] })),
  apply("finalizers of another manager", as(n, "two"), node("compat-apply", {}, { finalizers: ["example.io/b"] })),
  apply("finalizers of the first go", as(n, "one"), node("compat-apply")),
  mergePatch("and those of the second", n, { metadata: { finalizers: null } }),
  apply(
    "a pod",
    as(`${pods}/p`, "one"),
    pod("p", {
      containers: [{ name: "a", image: "i:1", ports: [{ containerPort: 80 }], env: [{ name: "E", value: "1" }] }],
    }),
  ),
  apply(
    "its port and a variable by another",
    as(`${pods}/p`, "two"),
    pod("p", { containers: [{ name: "a", image: "i:1", env: [{ name: "E", value: "2" }] }] }),
  ),
  apply(
    "two items with one key",
    as(`${pods}/p`, "two"),
    pod("p", {
      containers: [
        { name: "a", image: "i:1" },
        { name: "a", image: "i:2" },
      ],
    }),
  ),
  del("delete the node", n),
  post("create by update", as(configMaps, "creator"), configMap("created", { k: "1" })),
  apply("then apply with another value", as(`${configMaps}/created`, "one"), configMap("created", { k: "2" })),
  apply("then apply with the same value", as(`${configMaps}/created`, "one"), configMap("created", { k: "1" })),
  mergePatch("clear the managed fields", `${configMaps}/created`, { metadata: { managedFields: [{}] } }),
  apply("apply after clearing", as(`${configMaps}/created`, "one"), configMap("created", { k: "3" })),
]);
