import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { type Clock, systemClock } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { afterEach, expect, test } from "vitest";
import { nodeResource } from "../objects/built-in-resources.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import { createApiClient } from "./api-client.ts";
import { isGone } from "./api-error.ts";
import type { WatchOptions } from "./call-options.ts";
import type { WatchEvent } from "./watch.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(handle: (response: ServerResponse) => void | Promise<void>, clock: Clock = systemClock) {
  const server = await startLoopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    return handle(response);
  });
  const api = createApiClient({ server: server.url }, { clock });
  closers.push(api.close, server.close);
  return { server, api };
}

/** Reads a watch to its end; what it threw is the second part. */
async function readAll(
  watch: AsyncIterable<WatchEvent>,
  onEvent: () => void = () => {},
): Promise<{ events: WatchEvent[]; error?: unknown }> {
  const events: WatchEvent[] = [];
  try {
    for await (const event of watch) {
      events.push(event);
      onEvent();
    }
    return { events };
  } catch (error) {
    return { events, error };
  }
}

const from: WatchOptions = { resourceVersion: "1" };
const never = new AbortController().signal;
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const node = (version: string, more: object = {}) => ({ metadata: { name: "a", resourceVersion: version, ...more } });

test("keeps characters that are split over chunks, and U+2028 and U+2029 inside of strings", async () => {
  const text = "Zürich \u2028 \u2029 🙂";
  const bytes = Buffer.from(event("ADDED", node("2", { annotations: { text } })) + event("MODIFIED", node("3")));
  const { api } = await serve(async (response) => {
    for (const byte of bytes) {
      response.write(Buffer.of(byte));
      await delay(0);
    }
    response.end();
  });
  const { events, error } = await readAll(api.watch(nodeResource, from, never));
  expect(error).toBeUndefined();
  expect(events.map(({ type, object }) => [type, object.metadata.resourceVersion])).toEqual([
    ["ADDED", "2"],
    ["MODIFIED", "3"],
  ]);
  expect(events[0]?.object.metadata.annotations?.["text"]).toBe(text);
});

test("reads many events of one chunk, and passes over empty lines", async () => {
  const { api } = await serve((response) => {
    response.end(`${event("ADDED", node("2"))}\n\r\n${event("BOOKMARK", node("9"))}${event("DELETED", node("10"))}`);
  });
  const { events, error } = await readAll(api.watch(nodeResource, from, never));
  expect(error).toBeUndefined();
  expect(events.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK", "DELETED"]);
});

test.each([
  { inactivityMs: undefined, sendInitialEvents: false, least: 40, most: 46 },
  { inactivityMs: 1_000, sendInitialEvents: false, least: 1, most: 1 },
  { inactivityMs: undefined, sendInitialEvents: true, least: 300, most: 599 },
])("asks for bookmarks and for an end: %o", async ({ least, most, ...options }) => {
  const { server, api } = await serve((response) => void response.end());
  await readAll(api.watch(nodeResource, { resourceVersion: "42", namespace: "ignored", ...options }, never));
  const url = new URL(server.requests[0]?.url ?? "", server.url);
  expect(url.pathname).toBe("/api/v1/nodes");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    watch: "true",
    resourceVersion: "42",
    allowWatchBookmarks: "true",
  });
  expect(Number(url.searchParams.get("timeoutSeconds"))).toBeGreaterThanOrEqual(least);
  expect(Number(url.searchParams.get("timeoutSeconds"))).toBeLessThanOrEqual(most);
});

test("continues a watch that the server has ended on the same connection", async () => {
  const { server, api } = await serve((response) => void response.end(event("BOOKMARK", node("2"))));
  for (let count = 0; count < 3; count++) await readAll(api.watch(nodeResource, from, never));
  expect(server.requests).toHaveLength(3);
  expect(server.connections()).toBe(1);
});

test("closes the connection of a watch that its reader leaves", async () => {
  const { server, api } = await serve((response) => void response.write(event("ADDED", node("2"))));
  for await (const _ of api.watch(nodeResource, from, never)) break;
  await expect.poll(server.open).toBe(0);
});

test("fails when the last line is cut off, and delivers what came before", async () => {
  const { api } = await serve((response) => void response.end(`${event("ADDED", node("2"))}{"type":"MODIFIED","obj`));
  const { events, error } = await readAll(api.watch(nodeResource, from, never));
  expect(events).toHaveLength(1);
  expect(error).toMatchObject({ status: 0, reason: "WatchInterrupted" });
  expect(String(error)).toContain("the stream ended inside a line");
});

test.each([
  ["not JSON", '{"type":"ADDED","object":SENSITIVE}\n'],
  ["not an event", "[]\n"],
  ["of an unknown type", event("SURPRISE", node("2"))],
  ["without an object", '{"type":"ADDED"}\n'],
])("fails on a line that is %s", async (_, line) => {
  const { api } = await serve((response) => void response.end(line + event("ADDED", node("3"))));
  const { events, error } = await readAll(api.watch(nodeResource, from, never));
  expect(events).toEqual([]);
  expect(error).toMatchObject({ reason: "MalformedResponse" });
  // With its causes, as it is logged.
  expect(inspect(error)).not.toContain("SENS");
});

test("throws an ERROR event in the middle as the error that it carries", async () => {
  const status = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 1 (5)" };
  const { api } = await serve((response) => void response.end(event("ADDED", node("2")) + event("ERROR", status)));
  const { events, error } = await readAll(api.watch(nodeResource, from, never));
  expect(events).toHaveLength(1);
  expect(isGone(error)).toBe(true);
  expect(error).toMatchObject({ message: "too old resource version: 1 (5)" });
});

test("fails when the connection is reset", async () => {
  let reset = (): void => {};
  const { api } = await serve((response) => {
    reset = () => response.socket?.resetAndDestroy();
    response.write(event("ADDED", node("2")));
  });
  // Once the event is there: a reset takes what was not read yet with it.
  const { events, error } = await readAll(api.watch(nodeResource, from, never), () => reset());
  expect(events).toHaveLength(1);
  expect(error).toMatchObject({ status: 0 });
});

test("closes a connection on which nothing arrives any more", async () => {
  const clock = createVirtualClock();
  const { server, api } = await serve((response) => void response.write(event("ADDED", node("2"))), clock);
  const watch = api.watch(nodeResource, { ...from, inactivityMs: 200 }, never);
  const { events, error } = await readAll(watch, () => void clock.advance(200));
  expect(events).toHaveLength(1);
  expect(error).toMatchObject({ reason: "WatchSilent" });
  expect(String(error)).toContain("the watch was silent for 200 ms");
  await expect.poll(server.open).toBe(0);
});

test("closes a TCP connection on which nothing arrives any more after 50 s, and not before", async () => {
  const clock = createVirtualClock();
  const server = await startLoopbackServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(event("ADDED", node("2")));
  });
  const api = createApiClient({ server: server.url }, { clock });
  closers.push(api.close, server.close);
  const seen: string[] = [];
  const ended = (async () => {
    for await (const { type } of api.watch(nodeResource, from, never)) seen.push(type);
  })().catch((error: unknown) => error);
  await expect.poll(() => seen).toEqual(["ADDED"]);
  await clock.advance(49_999);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(server.open()).toBe(1);
  await clock.advance(1);
  expect(await ended).toMatchObject({ reason: "WatchSilent" });
  await expect.poll(server.open).toBe(0);
});

test("stays on a slow connection as long as something arrives", async () => {
  const clock = createVirtualClock();
  let version = 2;
  let goOn = (): void => {};
  const { api } = await serve((response) => {
    goOn = () => {
      if (version < 8) response.write(event("BOOKMARK", node(String(version++))));
      else response.end();
    };
    goOn();
  }, clock);
  const watch = api.watch(nodeResource, { ...from, inactivityMs: 400 }, never);
  const { events, error } = await readAll(watch, () => void clock.advance(300).then(goOn));
  expect(error).toBeUndefined();
  expect(events).toHaveLength(6);
});

test("ends with the reason of its signal and leaves no connection behind", async () => {
  const { server, api } = await serve((response) => void response.write(event("ADDED", node("2"))));
  const stop = new AbortController();
  const reason = new Error("stopping");
  const { events, error } = await readAll(api.watch(nodeResource, from, stop.signal), () => stop.abort(reason));
  expect(events).toHaveLength(1);
  expect(error).toBe(reason);
  await expect.poll(server.open).toBe(0);
});

test("closes its connection when the reader leaves early", async () => {
  const { server, api } = await serve((response) => void response.write(event("ADDED", node("2"))));
  for await (const _ of api.watch(nodeResource, from, never)) break;
  await expect.poll(server.open).toBe(0);
});

test("takes no connection of the pool", async () => {
  const server = await startLoopbackServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    if (request.url.includes("watch=true")) response.flushHeaders();
    else response.end(JSON.stringify(node("1")));
  });
  const api = createApiClient({ server: server.url }, { maxConnections: 1 });
  closers.push(api.close, server.close);
  const stop = new AbortController();
  const watches = Array.from({ length: 3 }, () => readAll(api.watch(nodeResource, from, stop.signal)));
  await expect.poll(server.connections).toBe(3);
  await api.get(nodeResource, { name: "a" });
  expect(server.connections()).toBe(4);
  stop.abort(new Error("done"));
  await Promise.all(watches);
});
