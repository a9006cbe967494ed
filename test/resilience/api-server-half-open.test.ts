import { connect, createServer, type Server, type Socket } from "node:net";
import { createApiServer } from "@millwright/devcluster";
import { createApiClient, defaultInactivityMs } from "@millwright/kube";
import { expect, it } from "vitest";
import { configMap, configMaps, startCache } from "./cache-under-test.ts";

/** Longest time to detect a peer that vanished without closing its connection. */
const noticedWithinMs = 60_000;

/** A TCP proxy whose connections can become half-open on both ends, as when a load balancer or a host vanishes. */
async function startProxy(target: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server: Server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => pairs.delete(pair));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    /** Blocks all open connections without closing them. New ones work. */
    freeze: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    close: async () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

it("receives changes made during a half-open connection within 60 s, without a list", async () => {
  const server = createApiServer();
  const { url } = await server.listen();
  const proxy = await startProxy(Number(new URL(url).port));
  const truth = createApiClient({ server: url });
  const cache = startCache(proxy.url);
  await cache.informer.synced();
  await truth.create(configMaps, configMap("before"));
  await expect.poll(cache.names).toEqual(["before"]);

  proxy.freeze();
  const frozenMs = performance.now();
  await truth.create(configMaps, configMap("unseen"));
  await expect.poll(cache.names, { timeout: 1.5 * noticedWithinMs, interval: 50 }).toEqual(["before", "unseen"]);
  const tookMs = performance.now() - frozenMs;
  expect(tookMs).toBeLessThan(noticedWithinMs);
  expect(tookMs).toBeGreaterThan(defaultInactivityMs - 5_000);
  expect(cache.informer.counts()).toMatchObject({ lists: 1, silences: 1, failures: 0 });

  await cache.stop();
  await truth.close();
  await proxy.close();
  await server.close();
});
