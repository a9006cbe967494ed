import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import type { ApiClient, ApiClientOptions } from "../client/api-client.ts";
import type { ClusterConfig } from "../connection/cluster-config.ts";
import { startLoopbackServer } from "./loopback-server.ts";
import type { LoopbackServer, SeenRequest } from "./loopback-server.ts";

/** A server on loopback with the given responses, and a client of it; both are closed when the test has ended. */
export async function serve(
  handle: (request: SeenRequest, response: ServerResponse) => void,
  options: ApiClientOptions = {},
  config: (url: string) => ClusterConfig = (url) => ({ server: url }),
): Promise<{ readonly server: LoopbackServer; readonly api: ApiClient }> {
  const server = await startLoopbackServer(handle);
  const api = createApiClient(config(server.url), options);
  onTestFinished(async () => {
    await Promise.all([api.close(), server.close()]);
  });
  return { server, api };
}

/** Answers with JSON; a text is sent as it is. */
export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** A node as an answer holds it. */
export const servedNode = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "1" } };
