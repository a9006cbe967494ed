import { onTestFinished } from "vitest";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../api-server.ts";
import { isObject, type Json, type JsonObject, stringAt } from "../json/json.ts";

/** A response of the server under test. */
export interface TestAnswer {
  readonly code: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** A server under test and a plain HTTP client for it. */
export interface TestServer {
  readonly url: string;
  readonly server: ApiServer;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestAnswer>;
  /** Opens a watch and collects its events. */
  watch(path: string, headers?: Readonly<Record<string, string>>): TestWatch;
}

/** The events of a watch under test. */
export interface TestWatch {
  next(): Promise<JsonObject | undefined>;
  close(): void;
}

/** Starts a server on a free port. It is closed after the test at the latest. */
export async function startServer(options: ApiServerOptions = {}): Promise<TestServer> {
  const server = createApiServer(options);
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  return {
    url,
    server,
    async call(method, path, body, headers = {}) {
      const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...(text === undefined ? {} : { body: text }),
      });
      const answer = await response.text();
      const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
      const parsed: Json = isJson ? JSON.parse(answer) : { text: answer };
      return { code: response.status, body: isObject(parsed) ? parsed : {}, headers: response.headers };
    },
    watch(path, headers = {}) {
      const closing = new AbortController();
      const lines = readLines(fetch(`${url}${path}`, { headers, signal: closing.signal }));
      return {
        async next() {
          const { value, done } = await lines.next();
          if (done === true) return undefined;
          const event: Json = JSON.parse(value);
          return isObject(event) ? event : undefined;
        },
        close: () => closing.abort(),
      };
    },
  };
}

/** The `metadata.resourceVersion` of an object, as a string. */
export function versionOf(object: JsonObject): string {
  return stringAt(object, "metadata", "resourceVersion") ?? "";
}

async function* readLines(pending: Promise<Response>): AsyncGenerator<string, void> {
  const response = await pending;
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** Starts a server with a CRD for widgets. */
export async function startWidgetServer(): Promise<TestServer> {
  const server = await startServer();
  await server.call("POST", crdsPath, widgetCrd);
  return server;
}

/** A CRD `widgets.example.io` whose schema uses most features of schemas. */
export const widgetCrd: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.io" },
  spec: {
    group: "example.io",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Phase", type: "string", jsonPath: ".status.phase" },
          { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "string", enum: ["small", "large"] },
                  replicas: { type: "integer", format: "int32", minimum: 0, default: 1 },
                  surge: { "x-kubernetes-int-or-string": true },
                  raw: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  note: { type: "string", nullable: true, maxLength: 5, pattern: "^[a-z]*$" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
                    },
                  },
                },
              },
              status: {
                type: "object",
                properties: { phase: { type: "string" }, replicas: { type: "integer" } },
              },
            },
          },
        },
      },
    ],
  },
};

/** A valid Widget. */
export function widget(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "example.io/v1",
    kind: "Widget",
    metadata: { name, ...metadata },
    spec: { size: "small", ...spec },
  };
}

export const widgetsPath = "/apis/example.io/v1/namespaces/default/widgets";
export const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
