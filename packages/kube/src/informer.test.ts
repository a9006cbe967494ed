import type { ServerResponse } from "node:http";
import { seededRandom, systemClock } from "@millwright/core";
import { afterEach, expect, test } from "vitest";
import { createApiClient } from "./api-client.ts";
import { createInformer } from "./informer.ts";
import { nodeResource } from "./resources.ts";
import { startLoopbackServer } from "./testing/loopback-server.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** An informer against a server whose watches are played one after the other; the last one stays open. */
async function play(watches: ((response: ServerResponse) => void)[]) {
  const lists: string[] = [];
  const versions: (string | null)[] = [];
  const server = await startLoopbackServer(({ url }, response) => {
    const { searchParams } = new URL(url, "http://localhost");
    response.writeHead(200, { "content-type": "application/json" });
    if (searchParams.get("watch") !== "true") {
      lists.push(url);
      response.end(JSON.stringify({ metadata: { resourceVersion: "10" }, items: [node("listed", 9)] }));
      return;
    }
    versions.push(searchParams.get("resourceVersion"));
    response.flushHeaders();
    watches.shift()?.(response);
  });
  const api = createApiClient({ server: server.url });
  const stop = new AbortController();
  const informer = createInformer({
    api,
    type: nodeResource,
    clock: systemClock,
    random: seededRandom(1),
    backoff: { initialMs: 10, maxMs: 50 },
    inactivityMs: 400,
    streamingList: false,
  });
  const running = informer.run(stop.signal);
  closers.push(async () => {
    stop.abort(new Error("done"));
    await running;
    await api.close();
    await server.close();
  });
  await informer.synced();
  const names = () => informer.store.list().map((object) => object.metadata.name);
  return { server, lists, versions, names, informer };
}

const node = (name: string, version: number) => ({ metadata: { name, uid: name, resourceVersion: String(version) } });
const added = (name: string, version: number) => `${JSON.stringify({ type: "ADDED", object: node(name, version) })}\n`;

test("misses nothing and lists only once when watches are reset, cut off, garbled, silent and ended", async () => {
  const { lists, versions, names, server, informer } = await play([
    (response) => response.write(added("a", 11), () => response.socket?.resetAndDestroy()),
    (response) => response.end(added("b", 12) + added("never", 13).slice(0, 20)),
    (response) => response.end(`${added("c", 13)}garbage\n`),
    (response) => response.write(added("d", 14)),
    (response) => response.end(added("e", 15)),
    (response) => response.write(added("f", 16)),
  ]);
  await expect.poll(names, { timeout: 5_000 }).toEqual(["listed", "a", "b", "c", "d", "e", "f"]);
  expect(versions.slice(0, 6)).toEqual(["10", "11", "12", "13", "14", "15"]);
  expect(lists).toHaveLength(1);
  expect(informer.counts()).toMatchObject({ lists: 1, malformed: 1 });
  // One pooled connection from the list, one of the watch that is open.
  await expect.poll(server.open).toBeLessThanOrEqual(2);
});
