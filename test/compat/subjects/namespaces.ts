import { del, get, getUntil, mergePatch, post, put, subject } from "../request-script.ts";
import { configMap } from "./sample-objects.ts";

const namespaces = "/api/v1/namespaces";
const own = `${namespaces}/compat-own`;

/** Namespaces: creation, deletion, and what a terminating namespace rejects. */
export const namespaceLife = subject("namespaces", [
  get("the default namespace", `${namespaces}/default`),
  post("create", namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "compat-own" } }),
  get("read", own),
  post("create again", namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "compat-own" } }),
  post("a name with a dot", namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "a.b" } }),
  post("a name that is too long", namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "a".repeat(64) },
  }),
  mergePatch("label", own, { metadata: { labels: { a: "b" } } }),
  mergePatch("remove the name label", own, { metadata: { labels: { "kubernetes.io/metadata.name": null } } }),
  mergePatch("change the finalizers", own, { spec: { finalizers: ["example.io/own"] } }),
  mergePatch("change the phase", `${own}/status`, { status: { phase: "Terminating" } }),
  post("something in it", `${own}/configmaps`, configMap("held", {}, { finalizers: ["example.io/hold"] })),
  del("delete", own),
  post("create in it while it goes", `${own}/configmaps`, configMap("late")),
  del("delete again", own),
  put("finalize with a wrong name", `${own}/finalize`, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "other" },
    spec: { finalizers: [] },
  }),
  getUntil("its content is being deleted", `${own}/configmaps/held`, (_, body) =>
    JSON.stringify(body).includes("deletionTimestamp"),
  ),
  mergePatch("let the content go", `${own}/configmaps/held`, { metadata: { finalizers: null } }),
  getUntil("it is gone", own, (status) => status === 404),
  post("forbidden to delete", `${namespaces}/default/finalize`, {}),
  del("delete the default namespace", `${namespaces}/default`),
]);
