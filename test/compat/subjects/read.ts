import { get, post, step, subject } from "../request-script.ts";
import { configMap, configMaps, nodes, secrets } from "./sample-objects.ts";

const partial = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
const partialList = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };

/** Reads of single objects, and their errors. */
export const read = subject("read", [
  post("prepare", configMaps, configMap("a", { k: "v" }, { labels: { app: "x" } })),
  get("an object", `${configMaps}/a`),
  get("one that is missing", `${configMaps}/missing`),
  get("one in a namespace that is missing", "/api/v1/namespaces/compat-missing/configmaps/a"),
  get("a resource that is missing", "/api/v1/namespaces/{ns}/gadgets/a"),
  get("a version that is missing", "/api/v9/namespaces/{ns}/configmaps/a"),
  get("a group that is missing", "/apis/example.missing/v1/things"),
  get("a subresource that is missing", `${configMaps}/a/status`),
  get("a path beyond an object", `${configMaps}/a/b/c`),
  get("a cluster-wide object below a namespace", "/api/v1/namespaces/{ns}/nodes/a"),
  get("a namespaced object without a namespace", "/api/v1/configmaps/a"),
  get("metadata only", `${configMaps}/a`, partial),
  get("metadata only of a missing one", `${configMaps}/missing`, partial),
  get("a list of metadata", configMaps, partialList),
  get("a single one as a list of metadata", `${configMaps}/a`, partialList),
  get("as plain text", `${configMaps}/a`, { accept: "text/plain" }),
  get("as anything", `${configMaps}/a`, { accept: "*/*" }),
  get("as html first, then anything", `${configMaps}/a`, { accept: "text/html, */*;q=0.8" }),
  get("as an unknown form", `${configMaps}/a`, { accept: "application/json;as=Poem;g=meta.k8s.io;v=v1" }),
  get("as an unknown form, else plain", `${configMaps}/a`, {
    accept: "application/json;as=Poem;g=meta.k8s.io;v=v1,application/json",
  }),
  get("at version 0", `${configMaps}/a?resourceVersion=0`),
  get("at a version that is no number", `${configMaps}/a?resourceVersion=x`),
  get("at a version far ahead", `${configMaps}/a?resourceVersion=999999999`),
  get("pretty", `${configMaps}/a?pretty=true`),
  get("a trailing slash", `${configMaps}/a/`),
  get("empty list of secrets", secrets),
  get("a missing node", `${nodes}/compat-missing`),
  step("HEAD", "HEAD", `${configMaps}/a`),
]);
