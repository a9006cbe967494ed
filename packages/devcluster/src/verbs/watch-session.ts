import type { ServerResponse } from "node:http";
import type { Clock } from "@millwright/base";
import type { WatchStream } from "../faults/watch-stream.ts";

/** A client with this much unread is disconnected; it returns with its last version. */
const unreadLimitBytes = 16 * 1024 * 1024;
/** The initial state is sent in parts of this size, as fast as the client reads. */
const initialChunkBytes = 1024 * 1024;

/** A stream of lines that ends once: by its own end, that of the client or that of the server. */
export interface WatchSession {
  readonly isOver: boolean;
  readonly ended: Promise<void>;
  send(line: string): void;
  /** Sends the lines of items as fast as the client reads, until the session is over. */
  sendAll<Item>(items: readonly Item[], lineOf: (item: Item) => string | undefined): Promise<void>;
  end(this: void): void;
  onEnd(cleanUp: () => void): void;
}

/** Starts a session. `onTooSlow` is called when a client with too much unread is disconnected. */
export function openWatchSession(
  stream: WatchStream,
  response: ServerResponse,
  signal: AbortSignal,
  onTooSlow: () => void,
): WatchSession {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const cleanUps: (() => void)[] = [];
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    for (const cleanUp of cleanUps) cleanUp();
    signal.removeEventListener("abort", end);
    response.off("close", end);
    stream.end();
    resolve();
  };
  const send = (line: string): void => {
    if (isOver) return;
    stream.line(line);
    if (stream.unreadBytes <= unreadLimitBytes) return;
    onTooSlow();
    end();
    response.destroy();
  };
  signal.addEventListener("abort", end);
  response.once("close", end);
  if (signal.aborted || response.destroyed) end();
  return {
    get isOver() {
      return isOver;
    },
    ended,
    send,
    async sendAll(items, lineOf) {
      for (const item of items) {
        const line = lineOf(item);
        if (line !== undefined) send(line);
        if (stream.unreadBytes > initialChunkBytes) await stream.drained();
        if (isOver) return;
      }
    },
    end,
    onEnd: (cleanUp) => void cleanUps.push(cleanUp),
  };
}

/** Runs a function after a time. Returns the function that cancels it. */
export function startTimer(clock: Clock, ms: number, run: () => void): () => void {
  const timer = clock.setTimer(ms, run);
  return () => timer.cancel();
}

/** Runs a function in an interval. Returns the function that cancels it. */
export function startInterval(clock: Clock, ms: number, run: () => void): () => void {
  const tick = (): void => {
    timer = clock.setTimer(ms, tick);
    run();
  };
  let timer = clock.setTimer(ms, tick);
  return () => timer.cancel();
}
