import type { ServerResponse } from "node:http";
import { basename } from "node:path";
import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { afterEach, expect, test } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import { createInformer } from "./informer.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Far longer than any delay between attempts, and shorter than a request may take. */
const INACTIVITY_MS = 20_000;

/** An informer against a server whose watches are played one after the other; the last one stays open. */
async function play(watches: ((response: ServerResponse) => void)[]) {
  const lists: string[] = [];
  const versions: (string | null)[] = [];
  const server = await startLoopbackServer(({ url }, response) => {
    const { searchParams, pathname } = new URL(url, "http://localhost");
    response.writeHead(200, { "content-type": "application/json" });
    const known = informer.store.get(basename(pathname));
    if (known !== undefined) {
      response.end(JSON.stringify(known));
      return;
    }
    if (searchParams.get("watch") !== "true") {
      lists.push(url);
      response.end(JSON.stringify({ metadata: { resourceVersion: "10" }, items: [node("listed", 9)] }));
      return;
    }
    versions.push(searchParams.get("resourceVersion"));
    response.flushHeaders();
    watches.shift()?.(response);
  });
  const clock = createVirtualClock();
  const api = createApiClient({ server: server.url }, { clock });
  const stop = new AbortController();
  const informer = createInformer({
    api,
    type: nodeResource,
    clock,
    random: seededRandom(1),
    backoff: { initialMs: 10, maxMs: 50 },
    inactivityMs: INACTIVITY_MS,
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
  return { clock, server, lists, versions, names, informer };
}

const node = (name: string, version: number) => ({ metadata: { name, uid: name, resourceVersion: String(version) } });
const added = (name: string, version: number) => `${JSON.stringify({ type: "ADDED", object: node(name, version) })}\n`;

test("misses nothing and lists only once when watches are reset, cut off, garbled, silent and ended", async () => {
  let reset = (): void => {};
  const { clock, lists, versions, names, server, informer } = await play([
    (response) => {
      reset = () => response.socket?.resetAndDestroy();
      response.write(added("a", 11));
    },
    (response) => response.end(added("b", 12) + added("never", 13).slice(0, 20)),
    (response) => response.end(`${added("c", 13)}garbage\n`),
    (response) => response.write(added("d", 14)),
    (response) => response.end(added("e", 15)),
    (response) => response.write(added("f", 16)),
  ]);
  const saw = async (name: string): Promise<void> => {
    await expect.poll(names).toContain(name);
  };
  /** What is longer than any delay between attempts; the next watch is open then, or has ended already. */
  const goOn = async (opened: number) => {
    await expect
      .poll(async () => {
        await clock.advance(50);
        return versions.length;
      })
      .toBeGreaterThanOrEqual(opened);
  };
  await saw("a");
  // Once the event is there: a reset takes what was not read yet with it.
  reset();
  await goOn(2);
  await saw("b");
  await goOn(3);
  await saw("c");
  await goOn(4);
  await saw("d");
  await clock.advance(INACTIVITY_MS);
  await goOn(5);
  await saw("e");
  await goOn(6);
  await saw("f");
  expect(names()).toEqual(["listed", "a", "b", "c", "d", "e", "f"]);
  expect(versions).toEqual(["10", "11", "12", "13", "14", "15"]);
  expect(lists).toHaveLength(1);
  expect(informer.counts()).toMatchObject({ lists: 1, malformed: 1, silences: 1 });
  // One pooled connection from the list, one of the watch that is open.
  await expect.poll(server.open).toBeLessThanOrEqual(2);
});
