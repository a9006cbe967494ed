import { get, isJsonObject, type JsonObject, post, subject, versionOf } from "../request-script.ts";
import { configMap, configMaps, leases } from "./sample-objects.ts";

const names = ["a", "b", "c", "d", "e"];
const tokenOf = (list: JsonObject): string => {
  const { metadata } = list;
  const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
  return encodeURIComponent(typeof token === "string" ? token : "");
};

/** Lists: pages, versions and how they match. */
export const list = subject("list", [
  get("empty", configMaps),
  ...names.map((name) =>
    post(
      `prepare ${name}`,
      configMaps,
      configMap(name, { n: name }, { labels: { name, group: name < "c" ? "low" : "high" } }),
    ),
  ),
  get("all", configMaps),
  get("another resource", leases),
  get("a namespace that is missing", "/api/v1/namespaces/compat-missing/configmaps"),
  get("first page of two", `${configMaps}?limit=2`),
  get("second page of two", (seen) => `${configMaps}?limit=2&continue=${tokenOf(seen("first page of two"))}`),
  get("last page of two", (seen) => `${configMaps}?limit=2&continue=${tokenOf(seen("second page of two"))}`),
  post("a change between the pages", configMaps, configMap("bb")),
  get("the rest without a limit", (seen) => `${configMaps}?continue=${tokenOf(seen("first page of two"))}`),
  get("a page as large as the list", `${configMaps}?limit=6`),
  get("a page larger than the list", `${configMaps}?limit=100`),
  get("a page with a selector", `${configMaps}?limit=1&labelSelector=group%3Dhigh`),
  get(
    "the next page with a selector",
    (seen) => `${configMaps}?limit=1&labelSelector=group%3Dhigh&continue=${tokenOf(seen("a page with a selector"))}`,
  ),
  get(
    "the last page with a selector",
    (seen) =>
      `${configMaps}?limit=1&labelSelector=group%3Dhigh&continue=${tokenOf(seen("the next page with a selector"))}`,
  ),
  get("a page of nothing", `${configMaps}?limit=2&labelSelector=group%3Dnone`),
  get("limit zero", `${configMaps}?limit=0`),
  get("limit below zero", `${configMaps}?limit=-1`),
  get("limit that is no number", `${configMaps}?limit=x`),
  get("a token that is none", `${configMaps}?limit=2&continue=nonsense`),
  get(
    "a token with a version",
    (seen) =>
      `${configMaps}?limit=2&resourceVersion=${versionOf(seen("all"))}&continue=${tokenOf(seen("first page of two"))}`,
  ),
  get(
    "a token with a match",
    (seen) => `${configMaps}?limit=2&resourceVersionMatch=Exact&continue=${tokenOf(seen("first page of two"))}`,
  ),
  get("version 0", `${configMaps}?resourceVersion=0`),
  get("version 0 with a limit", `${configMaps}?resourceVersion=0&limit=2`),
  get("version 0, exact", `${configMaps}?resourceVersion=0&resourceVersionMatch=Exact`),
  get("version 0, not older than", `${configMaps}?resourceVersion=0&resourceVersionMatch=NotOlderThan`),
  get("exact", (seen) => `${configMaps}?resourceVersion=${versionOf(seen("prepare c"))}&resourceVersionMatch=Exact`),
  get(
    "exact with a limit",
    (seen) => `${configMaps}?resourceVersion=${versionOf(seen("prepare c"))}&resourceVersionMatch=Exact&limit=2`,
  ),
  get("exact, second page", (seen) => `${configMaps}?limit=2&continue=${tokenOf(seen("exact with a limit"))}`),
  get(
    "not older than",
    (seen) => `${configMaps}?resourceVersion=${versionOf(seen("prepare c"))}&resourceVersionMatch=NotOlderThan`,
  ),
  get("a version and no match", (seen) => `${configMaps}?resourceVersion=${versionOf(seen("prepare c"))}`),
  get("a match without a version", `${configMaps}?resourceVersionMatch=Exact`),
  get("an unknown match", `${configMaps}?resourceVersion=1&resourceVersionMatch=Sometimes`),
  get("a version that is no number", `${configMaps}?resourceVersion=x`),
  get("a version far ahead", `${configMaps}?resourceVersion=999999999`),
  get("a version far ahead, exact", `${configMaps}?resourceVersion=999999999&resourceVersionMatch=Exact`),
  get("initial events without a watch", `${configMaps}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`),
  get("a page of metadata", `${configMaps}?limit=1`, {
    accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  }),
  get("everywhere by label", "/api/v1/configmaps?labelSelector=name%3Da"),
]);
