import { expect, it } from "vitest";
import { requestKindOf } from "./request-observer.ts";

it.each([
  ["GET", "/api/v1/nodes?limit=100", "LIST", "nodes"],
  ["GET", "/api/v1/nodes?allowWatchBookmarks=true&watch=true", "WATCH", "nodes"],
  ["GET", "/api/v1/nodes?labelSelector=watch%3Dtrue", "LIST", "nodes"],
  ["GET", "/api/v1/nodes/node-a", "GET", "nodes"],
  ["POST", "/api/v1/namespaces/shoot/pods/web-1/eviction", "POST", "pods/eviction"],
  [
    "PATCH",
    "/apis/machine.sapcloud.io/v1alpha1/namespaces/shoot/machines/m-1/status?fieldManager=x",
    "PATCH",
    "machines/status",
  ],
  ["DELETE", "/apis/machine.sapcloud.io/v1alpha1/namespaces/shoot/machines/m-1", "DELETE", "machines"],
  ["GET", "/apis/machine.sapcloud.io/v1alpha1/namespaces/shoot/machines", "LIST", "machines"],
  ["GET", "/api/v1/namespaces", "LIST", "namespaces"],
  ["GET", "/api/v1/namespaces/shoot", "GET", "namespaces"],
  ["GET", "/version", "GET", ""],
  ["GET", "/apis/machine.sapcloud.io/v1alpha1", "GET", ""],
] as const)("of %s %s shows verb %s of %s, without names", (method, path, verb, resource) => {
  expect(requestKindOf(method, path)).toEqual({ method, verb, resource });
});
