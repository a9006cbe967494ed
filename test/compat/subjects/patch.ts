import { get, jsonPatch, mergePatch, post, put, step, strategicPatch, subject, versionOf } from "../request-script.ts";
import { configMap, configMaps, node, nodes, pod, pods } from "./sample-objects.ts";

const a = `${configMaps}/a`;
const n = `${nodes}/compat-patch`;
const p = `${pods}/p`;
const time = "2026-01-01T00:00:00Z";

/** JSON, merge and strategic merge patches. */
export const patch = subject("patch", [
  post("a config map", configMaps, configMap("a", { k: "1", l: "2" }, { labels: { app: "x" } })),
  mergePatch("merge: change and add", a, { data: { k: "2", m: "3" } }),
  mergePatch("merge: remove", a, { data: { l: null } }),
  mergePatch("merge: remove what is missing", a, { data: { zz: null } }),
  mergePatch("merge: nothing", a, {}),
  mergePatch("merge: remove all", a, { data: null }),
  mergePatch("merge: with its version", a, (seen) => ({
    metadata: { resourceVersion: versionOf(seen("merge: remove all")) },
    data: { k: "1" },
  })),
  mergePatch("merge: with an old version", a, (seen) => ({
    metadata: { resourceVersion: versionOf(seen("a config map")) },
    data: { k: "9" },
  })),
  mergePatch("merge: with another uid", a, { metadata: { uid: "11111111-2222-3333-4444-555555555555" } }),
  mergePatch("merge: another name", a, { metadata: { name: "b" } }),
  mergePatch("merge: another kind", a, { kind: "Secret" }),
  mergePatch("merge: a list", a, []),
  mergePatch("merge: a text", a, '"x"'),
  mergePatch("merge: not JSON", a, "{"),
  mergePatch("merge: a wrong type", a, { data: { k: 1 } }),
  mergePatch("merge: a bad label", a, { metadata: { labels: { "-": "x" } } }),
  mergePatch("merge: one that is missing", `${configMaps}/missing`, { data: { k: "1" } }),
  mergePatch("merge: the collection", configMaps, {}),
  jsonPatch("json: add, replace, remove", a, [
    { op: "add", path: "/data/n", value: "4" },
    { op: "replace", path: "/data/k", value: "5" },
    { op: "remove", path: "/metadata/labels/app" },
  ]),
  jsonPatch("json: test that holds", a, [
    { op: "test", path: "/data/k", value: "5" },
    { op: "replace", path: "/data/k", value: "6" },
  ]),
  jsonPatch("json: test that fails", a, [{ op: "test", path: "/data/k", value: "5" }]),
  jsonPatch("json: move and copy", a, [
    { op: "move", from: "/data/n", path: "/data/moved" },
    { op: "copy", from: "/data/k", path: "/data/copied" },
  ]),
  jsonPatch("json: test that there is nothing", a, [{ op: "test", path: "/data/nothing", value: null }]),
  jsonPatch("json: test for something where there is nothing", a, [{ op: "test", path: "/data/nothing", value: "" }]),
  jsonPatch("json: test below nothing", a, [{ op: "test", path: "/nothing/at/all", value: null }]),
  jsonPatch("json: test for nothing where there is something", a, [{ op: "test", path: "/data/k", value: null }]),
  jsonPatch("json: test without a value", a, [{ op: "test", path: "/data/nothing" }]),
  jsonPatch("json: escaped path", a, [{ op: "add", path: "/metadata/annotations", value: { "example.io/x": "1" } }]),
  jsonPatch("json: replace at an escaped path", a, [
    { op: "replace", path: "/metadata/annotations/example.io~1x", value: "2" },
  ]),
  jsonPatch("json: remove what is missing", a, [{ op: "remove", path: "/data/zz" }]),
  jsonPatch("json: replace what is missing", a, [{ op: "replace", path: "/data/zz", value: "x" }]),
  jsonPatch("json: add below what is missing", a, [{ op: "add", path: "/spec/zz", value: "x" }]),
  jsonPatch("json: unknown operation", a, [{ op: "twist", path: "/data/k", value: "x" }]),
  jsonPatch("json: not a list", a, { op: "add", path: "/data/k", value: "x" }),
  jsonPatch("json: empty list", a, []),
  jsonPatch("json: an old version", a, (seen) => [
    { op: "replace", path: "/metadata/resourceVersion", value: versionOf(seen("a config map")) },
    { op: "add", path: "/data/k", value: "9" },
  ]),
  strategicPatch("strategic: data", a, { data: { s: "1", k: null } }),
  post("a node", nodes, node("compat-patch", { taints: [{ key: "a", effect: "NoSchedule" }] })),
  strategicPatch("strategic: add a taint", n, { spec: { taints: [{ key: "b", effect: "NoExecute" }] } }),
  strategicPatch("strategic: delete a taint", n, { spec: { taints: [{ $patch: "delete", key: "a" }] } }),
  strategicPatch("strategic: replace all taints", n, {
    spec: { taints: [{ $patch: "replace" }, { key: "c", effect: "NoSchedule" }] },
  }),
  strategicPatch("strategic: cordon", n, { spec: { unschedulable: true } }),
  strategicPatch("strategic: uncordon", n, { spec: { unschedulable: null } }),
  strategicPatch("strategic: add finalizers", n, { metadata: { finalizers: ["x.io/a", "x.io/b"] } }),
  ...["a", "b"].map((name) =>
    strategicPatch(`strategic: a condition, and finalizer ${name} off, in a request for the status`, `${n}/status`, {
      metadata: { "$deleteFromPrimitiveList/finalizers": [`x.io/${name}`] },
      status: {
        conditions: [
          {
            type: "Terminating",
            status: "True",
            reason: "R",
            message: "m",
            lastHeartbeatTime: time,
            lastTransitionTime: time,
          },
        ],
      },
    }),
  ),
  strategicPatch("strategic: a condition in the status", `${n}/status`, {
    status: {
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "Up",
          message: "",
          lastHeartbeatTime: "2010-01-01T00:00:00Z",
          lastTransitionTime: "2010-01-01T00:00:00Z",
        },
      ],
    },
  }),
  strategicPatch("strategic: another condition", `${n}/status`, {
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
  strategicPatch("strategic: change a condition, in an order", `${n}/status`, {
    status: {
      "$setElementOrder/conditions": [{ type: "Disk" }, { type: "Ready" }],
      conditions: [{ type: "Ready", status: "False" }],
    },
  }),
  strategicPatch("strategic: a condition of another node", `${n}/status`, {
    metadata: { uid: "11111111-2222-3333-4444-555555555555" },
    status: { conditions: [{ type: "Ready", status: "Unknown" }] },
  }),
  strategicPatch("strategic: another node", n, { metadata: { uid: "11111111-2222-3333-4444-555555555555" } }),
  strategicPatch("strategic: unknown directive", n, { spec: { taints: [{ $patch: "twist", key: "c" }] } }),
  strategicPatch("strategic: an item without its key", n, { spec: { taints: [{ effect: "NoSchedule" }] } }),
  strategicPatch("strategic: a finalizer", n, { metadata: { finalizers: ["example.io/a"] } }),
  strategicPatch("strategic: another finalizer", n, { metadata: { finalizers: ["example.io/b"] } }),
  strategicPatch("strategic: delete from a list of values", n, {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["example.io/a"] },
  }),
  strategicPatch("strategic: replace a map", n, { metadata: { labels: { $patch: "replace", only: "this" } } }),
  mergePatch("merge: no finalizers", n, { metadata: { finalizers: null } }),
  post(
    "a pod",
    pods,
    pod("p", {
      containers: [
        { name: "a", image: "i:1" },
        { name: "b", image: "i:1" },
      ],
    }),
  ),
  strategicPatch("strategic: the image of one container", p, { spec: { containers: [{ name: "b", image: "i:2" }] } }),
  strategicPatch("strategic: remove a container", p, { spec: { containers: [{ name: "b", $patch: "delete" }] } }),
  mergePatch("merge: replaces the list of containers", p, { spec: { containers: [{ name: "a", image: "i:3" }] } }),
  step("no content type", "PATCH", a, { data: {} }),
  step("an unknown content type", "PATCH", a, { data: {} }, { "content-type": "application/json" }),
  step("an unknown patch type", "PATCH", a, { data: {} }, { "content-type": "application/poem-patch+json" }),
  put("put with a patch type", a, { data: {} }, { "content-type": "application/merge-patch+json" }),
  get("the end", a),
]);
