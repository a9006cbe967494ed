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

/** What the effects of faults make of a line. */
type PlannedLine =
  | { readonly kind: "none" }
  | { readonly kind: "silence" }
  /** The text is the last one of the stream. */
  | { readonly kind: "last"; readonly text: string }
  | { readonly kind: "line"; readonly text: string; readonly delayMs: number; readonly pieces: number };

function planLine(text: string, effects: readonly LineEffect[]): PlannedLine {
  let copies = 1;
  let delayMs = 0;
  let pieces = 1;
  for (const effect of effects) {
    switch (effect.kind) {
      case "silence":
        return { kind: "silence" };
      case "drop":
        return { kind: "none" };
      case "truncate":
        return { kind: "last", text: text.slice(0, text.length / 2) };
      case "watch-error": {
        const error = new StatusError(effect.code, reasonOf(effect.code), `fault on demand: ${effect.code}`);
        return { kind: "last", text: `${jsonText({ type: "ERROR", object: error.toStatus() })}\n` };
      }
      case "duplicate":
        copies += 1;
        break;
      case "slow":
        delayMs += effect.ms;
        break;
      case "pieces":
        pieces = Math.max(pieces, effect.count);
        break;
    }
  }
  return { kind: "line", text: copies === 1 ? text : text.repeat(copies), delayMs, pieces };
}

/** Runs steps one after the other, while the client is connected. */
interface StepQueue {
  readonly isBusy: boolean;
  add(step: () => Promise<void>): void;
}

function createStepQueue(response: ServerResponse, onIdle: () => void): StepQueue {
  let steps: (() => Promise<void>)[] | undefined;
  const run = async (queue: (() => Promise<void>)[]): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      // The client has disconnected: waiting lines are dropped at once.
      if (response.destroyed) break;
      await next();
    }
    steps = undefined;
    onIdle();
  };
  return {
    get isBusy() {
      return steps !== undefined;
    },
    add(step) {
      if (steps !== undefined) {
        steps.push(step);
        return;
      }
      steps = [step];
      void run(steps);
    },
  };
}

/**
 * Writes the lines of a watch with the effects of faults. Without faults a line goes straight to the connection. Slow lines delay
 * all later ones, so the order never changes.
 */
export function openWatchStream(
  response: ServerResponse,
  attributes: RequestAttributes,
  faults: FaultSource,
  clock: Clock,
): WatchStream {
  let waitingBytes = 0;
  let isSilent = false;
  let isOver = false;
  const slow = createStepQueue(response, () => (waitingBytes = 0));

  const write = (text: string | Buffer): void => {
    if (!isOver && !isSilent && !response.destroyed) response.write(text);
  };
  const finish = (): void => {
    if (isOver || isSilent) return;
    isOver = true;
    response.end();
  };
  const inOrder = (step: () => void): void => {
    if (slow.isBusy) slow.add(async () => step());
    else step();
  };
  const writeSlowly = async (text: string, delayMs: number, pieces: number): Promise<void> => {
    if (delayMs > 0) await clock.sleep(delayMs);
    const bytes = Buffer.from(text, "utf8");
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    for (let start = 0; start < bytes.length; start += size) {
      if (start > 0) await clock.sleep(pieceGapMs);
      // Pieces may split a character.
      write(bytes.subarray(start, start + size));
    }
    waitingBytes -= text.length;
  };

  return {
    line(text) {
      if (isOver || isSilent) return;
      const effects = faults.forLine(attributes);
      if (effects.length === 0 && !slow.isBusy) {
        write(text);
        return;
      }
      const planned = planLine(text, effects);
      switch (planned.kind) {
        case "none":
          return;
        case "silence":
          isSilent = true;
          return;
        case "last":
          inOrder(() => (write(planned.text), finish()));
          return;
        case "line":
          if (!slow.isBusy && planned.delayMs === 0 && planned.pieces <= 1) write(planned.text);
          else {
            waitingBytes += planned.text.length;
            slow.add(() => writeSlowly(planned.text, planned.delayMs, planned.pieces));
          }
      }
    },
    end: () => inOrder(finish),
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
