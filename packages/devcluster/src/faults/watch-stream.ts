import type { ServerResponse } from "node:http";
import type { Clock } from "@millwright/base";
import type { RequestAttributes } from "../request/request-attributes.ts";
import { jsonText } from "../json/json.ts";
import { StatusError } from "../errors/status-error.ts";
import type { LineEffect } from "./fault.ts";
import type { FaultSource } from "./faults.ts";
import { reasonOf } from "./request-faults.ts";

/** Sends the lines of a watch to the client. */
export interface WatchStream {
  line(text: string): void;
  /** Ends the stream after the lines that are waiting. */
  end(): void;
  /** Bytes that the client has not read yet. */
  readonly unreadBytes: number;
  /** Resolves when the client has read what was sent, has disconnected, or has read nothing for half a minute. */
  drained(): Promise<void>;
}

const drainLimitMs = 30_000;

const pieceGapMs = 5;

/**
 * Writes the lines of a watch with the effects of faults. Without faults a line goes straight to the connection. Slow lines
 * delay all later ones, so the order never changes.
 */
export function openWatchStream(
  response: ServerResponse,
  attributes: RequestAttributes,
  faults: FaultSource,
  clock: Clock,
): WatchStream {
  /** Lines that wait for a slow one; undefined when none is slow. */
  let waiting: (() => Promise<void>)[] | undefined;
  let waitingBytes = 0;
  let isSilent = false;
  let isOver = false;

  const write = (text: string): void => {
    if (!isOver && !isSilent) response.write(text);
  };
  const finish = (): void => {
    if (isOver || isSilent) return;
    isOver = true;
    response.end();
  };
  const later = (step: () => Promise<void>): void => {
    if (waiting !== undefined) {
      waiting.push(step);
      return;
    }
    const queue = [step];
    waiting = queue;
    void (async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        // The client has disconnected: waiting lines are dropped at once.
        if (response.destroyed) break;
        await next();
      }
      waiting = undefined;
      waitingBytes = 0;
    })();
  };

  const plan = (text: string, effects: readonly LineEffect[]): void => {
    let copies = 1;
    let delayMs = 0;
    let pieces = 1;
    for (const effect of effects) {
      switch (effect.kind) {
        case "silence":
          isSilent = true;
          return;
        case "drop":
          return;
        case "duplicate":
          copies += 1;
          break;
        case "slow":
          delayMs += effect.ms;
          break;
        case "pieces":
          pieces = Math.max(pieces, effect.count);
          break;
        case "truncate":
          if (waiting === undefined) {
            write(text.slice(0, text.length / 2));
            finish();
          } else later(async () => (write(text.slice(0, text.length / 2)), finish()));
          return;
        case "watch-error": {
          const fault = new StatusError(effect.code, reasonOf(effect.code), `fault on demand: ${effect.code}`);
          const line = `${jsonText({ type: "ERROR", object: fault.toStatus() })}\n`;
          if (waiting === undefined) {
            write(line);
            finish();
          } else later(async () => (write(line), finish()));
          return;
        }
      }
    }
    const whole = copies === 1 ? text : text.repeat(copies);
    if (waiting === undefined && delayMs === 0 && pieces <= 1) {
      write(whole);
      return;
    }
    waitingBytes += whole.length;
    later(async () => {
      if (delayMs > 0) await clock.sleep(delayMs);
      const bytes = Buffer.from(whole, "utf8");
      const size = Math.max(1, Math.ceil(bytes.length / pieces));
      for (let start = 0; start < bytes.length; start += size) {
        if (start > 0) await clock.sleep(pieceGapMs);
        // Pieces may split a character.
        if (!isOver && !isSilent && !response.destroyed) response.write(bytes.subarray(start, start + size));
      }
      waitingBytes -= whole.length;
    });
  };

  return {
    line(text) {
      if (isOver || isSilent) return;
      plan(text, faults.forLine(attributes));
    },
    end() {
      if (waiting === undefined) finish();
      else later(async () => finish());
    },
    drained() {
      if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          timer.cancel();
          response.off("drain", done);
          response.off("close", done);
          resolve();
        };
        const timer = clock.setTimer(drainLimitMs, done);
        response.once("drain", done);
        response.once("close", done);
      });
    },
    get unreadBytes() {
      return response.writableLength + waitingBytes;
    },
  };
}
