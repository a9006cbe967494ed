import { get, mergePatch, post, put, strategicPatch, subject } from "../request-script.ts";
import { node, nodes, pod, pods } from "./sample-objects.ts";

const p = `${pods}/p`;
const n = `${nodes}/compat-sub`;

/** The status of built-in kinds, and the binding of pods. */
export const subresources = subject("subresources", [
  post("a pod with a status", pods, { ...pod("p"), status: { phase: "Running" } }),
  get("its status", `${p}/status`),
  mergePatch("change the status", `${p}/status`, { status: { phase: "Running", podIP: "10.0.0.1" } }),
  mergePatch("labels through the status", `${p}/status`, {
    metadata: { labels: { a: "b" } },
    status: { message: "m" },
  }),
  mergePatch("the status through the main endpoint", p, { status: { phase: "Failed" } }),
  mergePatch("the spec through the status", `${p}/status`, { spec: { activeDeadlineSeconds: 5 } }),
  strategicPatch("a condition", `${p}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } }),
  strategicPatch("another condition", `${p}/status`, {
    status: { conditions: [{ type: "Mine/own", status: "True" }] },
  }),
  put("replace the status", `${p}/status`, { ...pod("p"), status: { phase: "Succeeded" } }),
  post("post a status", `${p}/status`, {}),
  post("bind a pod", pods, pod("free")),
  post("bind it", `${pods}/free/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "free" },
    target: { kind: "Node", name: "compat-somewhere" },
  }),
  get("it is bound", `${pods}/free`),
  post("bind it again", `${pods}/free/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "free" },
    target: { kind: "Node", name: "compat-elsewhere" },
  }),
  post("bind without a target", `${pods}/free/binding`, {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name: "free" },
  }),
  post("a node with a status", nodes, { ...node("compat-sub"), status: { capacity: { cpu: "2", memory: "4Gi" } } }),
  get("the status of a node", `${n}/status`),
  mergePatch("addresses", `${n}/status`, { status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }),
  mergePatch("capacity in other units", `${n}/status`, { status: { capacity: { cpu: "2000m", memory: "4194304Ki" } } }),
  strategicPatch("one more address", `${n}/status`, { status: { addresses: [{ type: "Hostname", address: "h" }] } }),
  mergePatch("the node's spec through its status", `${n}/status`, { spec: { unschedulable: true } }),
  get("scale of a kind without one", `${p}/scale`),
  get("an unknown subresource", `${p}/poem`),
  get("status of one that is missing", `${pods}/missing/status`),
]);
