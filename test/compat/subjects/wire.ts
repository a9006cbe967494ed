import { post, step, subject } from "../request-script.ts";
import { configMap, configMaps, nodes, pods } from "./sample-objects.ts";

const json = { "content-type": "application/json" };

/** Invalid methods, content types and bodies. */
export const wire = subject("wire", [
  post("prepare", configMaps, configMap("a")),
  step("POST to an object", "POST", `${configMaps}/a`, configMap("a"), json),
  step("PUT to a collection", "PUT", configMaps, configMap("a"), json),
  step("PATCH of a collection", "PATCH", configMaps, {}, { "content-type": "application/merge-patch+json" }),
  step("OPTIONS", "OPTIONS", configMaps),
  step("an unknown method", "BREW", configMaps),
  step("DELETE of a kind without collections", "DELETE", "/api/v1/namespaces"),
  step("an empty body", "POST", configMaps, "", json),
  step("no body", "POST", configMaps, undefined, json),
  step("half a body", "POST", configMaps, '{"apiVersion":"v1"', json),
  step("a list", "POST", configMaps, [], json),
  step("a text", "POST", configMaps, '"x"', json),
  step("null", "POST", configMaps, "null", json),
  step("a number", "POST", configMaps, "5", json),
  step("an empty object", "POST", configMaps, {}, json),
  step("two objects", "POST", configMaps, "{}{}", json),
  step("plain text", "POST", configMaps, "hello", { "content-type": "text/plain" }),
  step("a form", "POST", configMaps, "a=b", { "content-type": "application/x-www-form-urlencoded" }),
  step("JSON with a charset", "POST", configMaps, configMap("charset"), {
    "content-type": "application/json; charset=utf-8",
  }),
  step("without a content type", "POST", configMaps, configMap("untyped")),
  step("yaml", "POST", configMaps, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\n", {
    "content-type": "application/yaml",
  }),
  step("yaml answered", "GET", `${configMaps}/a`, undefined, { accept: "application/yaml" }),
  step("PUT with an empty body", "PUT", `${configMaps}/a`, "", json),
  step("PUT of a list", "PUT", `${configMaps}/a`, [], json),
  step("a body that is too large", "POST", configMaps, configMap("big", { k: "x".repeat(1_100_000) }), json),
  step(
    "a label called constructor",
    "POST",
    configMaps,
    configMap("odd", { constructor: "x", toString: "y" }, { labels: { constructor: "x" } }),
    json,
  ),
  step("line separators", "POST", configMaps, configMap("lines", { k: "a\u2028b\u2029c<>&" }), json),
  step("control characters", "POST", configMaps, configMap("controls", { k: "\u0001\t\n" }), json),
  step(
    "a float where an integer belongs",
    "POST",
    pods,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "f" },
      spec: { terminationGracePeriodSeconds: 1.5, containers: [{ name: "a", image: "i" }] },
    },
    json,
  ),
  step(
    "a text where an integer belongs",
    "POST",
    pods,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "f" },
      spec: { terminationGracePeriodSeconds: "30", containers: [{ name: "a", image: "i" }] },
    },
    json,
  ),
  step(
    "an object where a list belongs",
    "POST",
    pods,
    { apiVersion: "v1", kind: "Pod", metadata: { name: "f" }, spec: { containers: { name: "a" } } },
    json,
  ),
  step(
    "a text where a boolean belongs",
    "POST",
    nodes,
    { apiVersion: "v1", kind: "Node", metadata: { name: "compat-wire" }, spec: { unschedulable: "yes" } },
    json,
  ),
  step("an unknown query parameter", "GET", `${configMaps}/a?color=red`),
  step("percent escapes in a name", "GET", `${configMaps}/%61`),
  step("a doubled slash", "GET", `/api/v1//namespaces/{ns}/configmaps/a`),
]);
