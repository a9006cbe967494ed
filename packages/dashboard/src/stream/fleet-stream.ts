import type { Clock, Timer } from "@millwright/base";
import type { FleetReader } from "../fleet/fleet-reader.ts";
import { cleanValue } from "../rows/clean.ts";
import { lifecycleSteps } from "../rows/lifecycle.ts";
import { createRowCache } from "./row-cache.ts";

/** One reader of the stream. */
export interface StreamClient {
  /** Sends an event. `false`: nothing more should be sent before `onDrain` was called. */
  send(event: string): boolean;
  /** Calls back once when the client takes more. */
  onDrain(resume: () => void): void;
}

/** Rows that are sent to all who follow them. */
export interface FleetStream {
  /** Sends all rows, then what changes, until the returned function is called. `undefined`: too many follow already. */
  open(client: StreamClient): (() => void) | undefined;
}

/** How often changes are sent, milliseconds. What changes twice in between is sent once. */
export const TICK_MS = 250;

/** Rows of one event: the rest follows with the next ones. */
export const MAX_ROWS = 500;

/** Interval of the event that shows that the stream is alive, milliseconds. */
const BEAT_MS = 1_000;

const MAX_CLIENTS = 20;

/** Calls of drivers in one event. */
const MAX_CALLS = 50;

/** Invariant: `pending` has the rows that the client does not have as they are, or that are gone; no events queue up for a slow client. */
interface Follower {
  readonly client: StreamClient;
  readonly pending: Set<string>;
  hasAll: boolean;
  isBlocked: boolean;
}

const eventOf = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

/** The next rows of a follower, taken from what is pending; `undefined` when it has all. */
function takeRows({ pending }: Follower, rowOf: (id: string) => string | undefined): string | undefined {
  if (pending.size === 0) return undefined;
  const rows: string[] = [];
  const gone: string[] = [];
  for (const id of pending) {
    if (rows.length + gone.length >= MAX_ROWS) break;
    pending.delete(id);
    const row = rowOf(id);
    if (row === undefined) gone.push(id);
    else rows.push(row);
  }
  return eventOf("rows", `{"rows":[${rows.join(",")}],"gone":${JSON.stringify(gone)}}`);
}

/** Shows that the stream is alive, whether the API server is reachable, and which calls run. */
const beatOf = (fleets: readonly FleetReader[], now: Date): string =>
  eventOf(
    "beat",
    JSON.stringify({
      time: now.toISOString(),
      lostForMs: Math.max(0, ...fleets.map(({ lostForMs }) => lostForMs())),
      calls: cleanValue(fleets.flatMap(({ runningCalls }) => runningCalls()).slice(0, MAX_CALLS)),
    }),
  );

/** Makes the stream. The caches are followed, and rows kept, only while someone follows the stream. */
export function createFleetStream(fleets: readonly FleetReader[], clock: Pick<Clock, "setTimer" | "now">): FleetStream {
  const followers = new Set<Follower>();
  const rows = createRowCache(fleets);
  let tick: Timer | undefined;
  let beat: Timer | undefined;

  const schedule = (): void => void (tick ??= clock.setTimer(TICK_MS, flush));
  function changed(id: string): void {
    for (const { pending } of followers) pending.add(id);
    schedule();
  }
  function send(follower: Follower, event: string): void {
    if (follower.client.send(event)) return;
    follower.isBlocked = true;
    follower.client.onDrain(() => {
      follower.isBlocked = false;
      pump(follower);
    });
  }
  /** Sends one event; to a new follower, all that it does not have yet. */
  function pump(follower: Follower): void {
    do {
      if (follower.isBlocked || !followers.has(follower)) return;
      const event = takeRows(follower, rows.get);
      if (event !== undefined) send(follower, event);
    } while (!follower.hasAll && follower.pending.size > 0);
    if (!follower.hasAll) {
      follower.hasAll = true;
      send(follower, eventOf("synced", "{}"));
    }
    if (follower.pending.size > 0) schedule();
  }
  function sendToAll(next: (follower: Follower) => void): void {
    for (const follower of followers) if (!follower.isBlocked) next(follower);
  }
  function flush(): void {
    tick = undefined;
    sendToAll(pump);
  }
  function sendBeat(): void {
    beat = clock.setTimer(BEAT_MS, sendBeat);
    const event = beatOf(fleets, clock.now());
    sendToAll((follower) => send(follower, event));
  }
  function stop(): void {
    rows.stop();
    tick?.cancel();
    beat?.cancel();
    tick = undefined;
    beat = undefined;
  }

  return {
    open(client) {
      if (followers.size >= MAX_CLIENTS) return undefined;
      if (followers.size === 0) {
        rows.start(changed);
        beat = clock.setTimer(BEAT_MS, sendBeat);
      }
      const follower: Follower = { client, pending: new Set(rows.ids()), hasAll: false, isBlocked: false };
      followers.add(follower);
      const namespaces = fleets.map(({ namespace }) => namespace);
      send(follower, eventOf("hello", JSON.stringify({ namespaces, steps: lifecycleSteps })));
      if (!follower.isBlocked) send(follower, beatOf(fleets, clock.now()));
      pump(follower);
      return () => {
        followers.delete(follower);
        if (followers.size === 0) stop();
      };
    },
  };
}
