import {
  apply,
  del,
  get,
  jsonPatch,
  mergePatch,
  post,
  subject,
  versionOf,
  watch,
  watchDuring,
} from "../request-script.ts";
import { configMap, configMaps, secrets } from "./sample-objects.ts";

const from = (version: string, more = "") =>
  `${configMaps}?watch=true&timeoutSeconds=1&resourceVersion=${version}${more}`;
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
const partial = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };

/** Watches: sequences of events, transitions by selector, initial events, bookmarks. */
export const watches = subject("watches", [
  get("start", configMaps),
  post("add a", configMaps, configMap("a", { k: "1" }, { labels: { color: "red" } })),
  mergePatch("change a", `${configMaps}/a`, { data: { k: "2" } }),
  mergePatch("change nothing", `${configMaps}/a`, { data: { k: "2" } }),
  post("add b", configMaps, configMap("b", {}, { labels: { color: "blue" } })),
  mergePatch("a becomes blue", `${configMaps}/a`, { metadata: { labels: { color: "blue" } } }),
  mergePatch("a becomes red", `${configMaps}/a`, { metadata: { labels: { color: "red" } } }),
  post("add held", configMaps, configMap("held", {}, { finalizers: ["example.io/hold"] })),
  del("delete held", `${configMaps}/held`),
  jsonPatch("let held go", `${configMaps}/held`, [{ op: "remove", path: "/metadata/finalizers" }]),
  del("delete b", `${configMaps}/b`),
  apply("add c by apply", `${configMaps}/c?fieldManager=one`, configMap("c", { k: "1" })),
  post("another kind", secrets, { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
  watch("from the start", (seen) => from(versionOf(seen("start")))),
  watch("from the middle", (seen) => from(versionOf(seen("add b")))),
  watch("by label", (seen) => from(versionOf(seen("start")), "&labelSelector=color%3Dred")),
  watch("by name", (seen) => from(versionOf(seen("start")), "&fieldSelector=metadata.name%3Db")),
  get(
    "one object by its path",
    (seen) => `${configMaps}/a?watch=true&timeoutSeconds=1&resourceVersion=${versionOf(seen("start"))}`,
  ),
  watch(
    "the old way",
    (seen) =>
      `/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=1&resourceVersion=${versionOf(seen("let held go"))}`,
  ),
  watch("without a version", `${configMaps}?watch=true&timeoutSeconds=1`),
  watch("version 0", `${configMaps}?watch=true&timeoutSeconds=1&resourceVersion=0`),
  watch(
    "as 1",
    (seen) => `${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${versionOf(seen("add c by apply"))}`,
  ),
  watch("metadata only", (seen) => from(versionOf(seen("add c by apply"))), partial),
  watch("tables", (seen) => from(versionOf(seen("let held go"))), table),
  watch(
    "a bookmark before its end",
    (seen) =>
      `${configMaps}?watch=true&timeoutSeconds=5&allowWatchBookmarks=true&resourceVersion=${versionOf(seen("add c by apply"))}`,
  ),
  watch(
    "initial events",
    `${configMaps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  ),
  watch(
    "initial events by label",
    `${configMaps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=color%3Dblue`,
  ),
  watch(
    "initial events without bookmarks",
    `${configMaps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  ),
  watch(
    "initial events without a match",
    `${configMaps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true`,
  ),
  watch(
    "initial events with an exact match",
    `${configMaps}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1`,
  ),
  watch("a match without initial events", (seen) =>
    from(versionOf(seen("start")), "&resourceVersionMatch=NotOlderThan"),
  ),
  watch("no initial events, but a match", (seen) =>
    from(versionOf(seen("start")), "&resourceVersionMatch=NotOlderThan&sendInitialEvents=false"),
  ),
  watch("a bad version", from("x")),
  watch("a version before all history", from("1")),
  watch("a version far ahead", from("999999999")),
  watch("a bad selector", from("0", "&labelSelector=-")),
  watch("a bad field selector", from("0", "&fieldSelector=data.k%3Dv")),
  watch("a bad timeout", `${configMaps}?watch=true&timeoutSeconds=x`),
  watch("a value that is no boolean", `${configMaps}?watch=maybe&timeoutSeconds=1`),
  watchDuring("live", (seen) => `${configMaps}?watch=true&resourceVersion=${versionOf(seen("add c by apply"))}`, 5, [
    post("live: add", configMaps, configMap("live", { k: "1" })),
    mergePatch("live: change", `${configMaps}/live`, { data: { k: "2" } }),
    mergePatch("live: change nothing", `${configMaps}/live`, { data: { k: "2" } }),
    mergePatch("live: dry run", `${configMaps}/live?dryRun=All`, { data: { k: "3" } }),
    del("live: delete", `${configMaps}/live`),
    post("live: add another", configMaps, configMap("live-2")),
  ]),
  watchDuring(
    "live by label",
    (seen) => `${configMaps}?watch=true&labelSelector=on%3Dyes&resourceVersion=${versionOf(seen("live: add another"))}`,
    5,
    [
      post("label: not selected", configMaps, configMap("l", {}, { labels: { on: "no" } })),
      mergePatch("label: enters", `${configMaps}/l`, { metadata: { labels: { on: "yes" } } }),
      mergePatch("label: changes", `${configMaps}/l`, { data: { k: "1" } }),
      mergePatch("label: leaves", `${configMaps}/l`, { metadata: { labels: { on: "no" } } }),
      mergePatch("label: enters again", `${configMaps}/l`, { metadata: { labels: { on: "yes" } } }),
      del("label: is deleted", `${configMaps}/l`),
    ],
  ),
]);
