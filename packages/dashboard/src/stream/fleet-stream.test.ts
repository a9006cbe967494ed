import type { Machine } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, test } from "vitest";
import type { FleetReader } from "../fleet/fleet-reader.ts";
import { aMachine, createTestFleet } from "../testing/fleet.ts";
import { createFleetStream, TICK_MS } from "./fleet-stream.ts";

interface SentEvent {
  readonly name: string;
  readonly data: {
    readonly rows: readonly { readonly name: string; readonly phase: string }[];
    readonly gone: readonly string[];
  };
  readonly bytes: number;
}

/** A client that records what is sent to it. */
function createClient() {
  const events: SentEvent[] = [];
  let resume: (() => void) | undefined;
  const client = {
    isSlow: false,
    events,
    send(text: string): boolean {
      const [, name = "", data = ""] = /^event: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
      events.push({ name, data: JSON.parse(data), bytes: Buffer.byteLength(text) });
      return !client.isSlow;
    },
    onDrain: (then: () => void): void => void (resume = then),
    drain: (): void => resume?.(),
    /** What was sent since the last call, without signs of life. */
    take: (): readonly SentEvent[] => events.splice(0).filter(({ name }) => name !== "beat"),
  };
  return client;
}

function setUp(change: Partial<FleetReader> = {}) {
  const clock = createVirtualClock();
  const test = createTestFleet(change);
  return { ...test, clock, stream: createFleetStream([test.fleet], clock), client: createClient() };
}
const phaseOf = (machine: Machine, phase: string): Machine =>
  aMachine(machine.metadata.name, { status: { currentStatus: { phase } } });
const rowsOf = (events: readonly SentEvent[]) =>
  events
    .filter(({ name }) => name === "rows")
    .flatMap(({ data }) => data.rows.map(({ name, phase }) => `${name} ${phase}`));

test("a client gets all rows, and then only what changes", async () => {
  const { machines, stream, client, clock } = setUp();
  const [a, b] = [aMachine("a"), aMachine("b")];
  machines.applyEvent(a);
  machines.applyEvent(b);
  stream.open(client);
  const first = client.take();
  expect(first.map(({ name }) => name)).toEqual(["hello", "rows", "synced"]);
  expect(rowsOf(first)).toEqual(["a Running", "b Running"]);
  machines.applyEvent(phaseOf(a, "Unknown"));
  machines.applyDeletion(phaseOf(b, "Terminating"));
  await clock.advance(TICK_MS);
  const [delta] = client.take();
  expect(rowsOf(delta === undefined ? [] : [delta])).toEqual(["a Unknown"]);
  expect(delta?.data.gone).toEqual(["machine/ns/b"]);
  await clock.advance(10 * TICK_MS);
  expect(client.take()).toEqual([]);
});

test("what changes often within a tick is sent once, as it is last", async () => {
  const { machines, stream, client, clock } = setUp();
  const a = aMachine("a");
  machines.applyEvent(a);
  stream.open(client);
  client.take();
  for (const phase of ["Unknown", "Running", "Unknown", "Failed"]) machines.applyEvent(phaseOf(a, phase));
  await clock.advance(TICK_MS);
  expect(rowsOf(client.take())).toEqual(["a Failed"]);
});

test("of 5,000 machines with long messages, each event is bounded, and all arrive", async () => {
  const { machines, stream, client, clock } = setUp();
  const description = `<script>${"\u202E".repeat(10_000)}`;
  const names = Array.from({ length: 5_000 }, (_, index) => `machine-${String(index).padStart(4, "0")}`);
  const failing = (name: string, phase: string): Machine =>
    aMachine(name, { status: { currentStatus: { phase }, lastOperation: { description } } });
  for (const name of names) machines.applyEvent(failing(name, "Failed"));
  stream.open(client);
  const first = client.take();
  expect(rowsOf(first)).toHaveLength(5_000);
  for (const name of names) machines.applyEvent(failing(name, "Unknown"));
  await clock.advance(11 * TICK_MS);
  const all = client.take();
  expect(rowsOf(all)).toHaveLength(5_000);
  expect(Math.max(...[...first, ...all].map(({ bytes }) => bytes))).toBeLessThan(1_000_000);
  machines.applyEvent(phaseOf(aMachine("machine-0007"), "Running"));
  await clock.advance(TICK_MS);
  const [delta, ...more] = client.take();
  expect(more).toEqual([]);
  expect(delta?.bytes).toBeLessThan(1_000);
});

test("a change of an object that shows nowhere is not sent", async () => {
  const { machines, stream, client, clock } = setUp();
  const a = aMachine("a");
  machines.applyEvent(a);
  stream.open(client);
  client.take();
  const labels = { "not-shown": "x" };
  machines.applyEvent({ ...a, metadata: { ...aMachine("a").metadata, labels } });
  await clock.advance(2 * TICK_MS);
  expect(client.take()).toEqual([]);
});

test("for a slow client nothing queues up: it gets what is true when it reads again", async () => {
  const { machines, stream, client, clock } = setUp();
  const a = aMachine("a");
  machines.applyEvent(a);
  stream.open(client);
  client.isSlow = true;
  machines.applyEvent(phaseOf(a, "Unknown"));
  await clock.advance(TICK_MS);
  client.take();
  for (let round = 0; round < 100; round++) {
    machines.applyEvent(phaseOf(a, round % 2 === 0 ? "Running" : "Unknown"));
    await clock.advance(TICK_MS);
  }
  expect(client.events).toEqual([]);
  client.isSlow = false;
  client.drain();
  expect(rowsOf(client.take())).toEqual(["a Unknown"]);
});

test("the caches are followed only while someone follows the stream, once for all", () => {
  let followers = 0;
  const { fleet } = createTestFleet();
  const machines: FleetReader["machines"] = {
    ...fleet.machines,
    subscribe(subscriber) {
      followers += 1;
      const end = fleet.machines.subscribe(subscriber);
      return () => {
        followers -= 1;
        end();
      };
    },
  };
  const stream = createFleetStream([{ ...fleet, machines }], createVirtualClock());
  expect(followers).toBe(0);
  const ends = [stream.open(createClient()), stream.open(createClient())];
  expect(followers).toBe(1);
  for (const end of ends) end?.();
  expect(followers).toBe(0);
});

test("not more than twenty follow the stream", () => {
  const { stream } = setUp();
  const ends = Array.from({ length: 20 }, () => stream.open(createClient()));
  expect(ends).not.toContain(undefined);
  expect(stream.open(createClient())).toBeUndefined();
  ends[0]?.();
  expect(stream.open(createClient())).toBeDefined();
});

test("each second the stream shows that it is alive, and whether the API server is reachable", async () => {
  const { stream, client, clock } = setUp({
    lostForMs: () => 7_000,
    runningCalls: () => [{ what: "createMachine of mock\u202E", ms: 5 }],
  });
  stream.open(client);
  client.events.splice(0);
  await clock.advance(3_000);
  expect(client.events.map(({ name }) => name)).toEqual(["beat", "beat", "beat"]);
  expect(client.events[0]?.data).toMatchObject({
    lostForMs: 7_000,
    calls: [{ what: "createMachine of mock\uFFFD", ms: 5 }],
  });
});
