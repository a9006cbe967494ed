import { systemClock } from "@millwright/base";
import { expect, onTestFinished, test } from "vitest";
import { createApiClient } from "./api-client.ts";
import type { ClusterConfig } from "../connection/cluster-config.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";

/** A server that keeps the token of each request, and answers the first one when it is let go. */
async function aServer() {
  const seen: (string | undefined)[] = [];
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const server = await startLoopbackServer(async ({ headers }, response) => {
    if (seen.push(headers.authorization) === 1) await held;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ metadata: { name: "a" } }));
  });
  onTestFinished(() => {
    letGo();
    return server.close();
  });
  return { url: server.url, seen, letGo };
}

const configOf = (server: string, token: string): ClusterConfig => ({
  server,
  credentials: async () => ({ headers: { authorization: token } }),
});

test("a request that waited for its place takes both server and credentials of a kubeconfig that was renewed meanwhile", async () => {
  const [old, renewed] = [await aServer(), await aServer()];
  renewed.letGo();
  let current = configOf(old.url, "old");
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => (nowMs += 10) };
  const api = createApiClient({ ...current, current: async () => current }, { clock, maxConnections: 1 });
  onTestFinished(() => api.close());
  const read = () => api.get(nodeResource, { name: "a" });
  const first = read();
  await expect.poll(() => old.seen).toEqual(["old"]);
  const waiting = [read(), read()];
  // Both have taken their first access, and wait.
  await expect.poll(() => api.load?.().waiting).toBe(2);
  current = configOf(renewed.url, "new");
  old.letGo();
  await Promise.all([first, ...waiting]);
  expect([old.seen, renewed.seen]).toEqual([["old"], ["new", "new"]]);
});
