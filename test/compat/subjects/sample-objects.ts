import { isJsonObject, type Json, type JsonObject } from "../request-script.ts";

export const configMaps = "/api/v1/namespaces/{ns}/configmaps";
export const secrets = "/api/v1/namespaces/{ns}/secrets";
export const pods = "/api/v1/namespaces/{ns}/pods";
export const nodes = "/api/v1/nodes";
export const leases = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases";
export const budgets = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets";
export const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export function configMap(name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } };
  return Object.keys(data).length === 0 ? object : { ...object, data };
}

export function pod(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    // In a cluster, admission sets the service account; both servers run without that plugin.
    spec: { serviceAccountName: "default", containers: [{ name: "main", image: "registry.local/app:1" }], ...spec },
  };
}

export function node(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, ...metadata }, spec };
}

export function lease(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
}

export function budget(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name }, spec };
}

/** A CRD with one version that serves a schema. */
export function crd(
  group: string,
  plural: string,
  kind: string,
  schema: JsonObject,
  version: JsonObject = {},
): JsonObject & { readonly spec: JsonObject } {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  };
}

/** Whether an object is terminating. */
export function isMarked(_status: number, body: JsonObject): boolean {
  const { metadata } = body;
  return isJsonObject(metadata) && metadata["deletionTimestamp"] !== undefined;
}

/** True once a CRD is served. */
export function isEstablished(_status: number, body: JsonObject): boolean {
  const status = body["status"];
  const conditions = isJsonObject(status) ? status["conditions"] : undefined;
  return (
    Array.isArray(conditions) &&
    conditions.some(
      (condition: Json) =>
        isJsonObject(condition) && condition["type"] === "Established" && condition["status"] === "True",
    )
  );
}
