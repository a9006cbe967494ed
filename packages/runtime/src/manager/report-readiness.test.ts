import { createVirtualClock } from "@millwright/core/testing";
import type { LogLevel } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { reportReadiness, type Syncing } from "./report-readiness.ts";

const aCache = (): { readonly cache: Syncing; readonly sync: () => void } => {
  const first = Promise.withResolvers<void>();
  let isSynced = false;
  return {
    cache: {
      hasSynced: () => isSynced,
      synced: (signal) => {
        signal?.addEventListener("abort", () => first.reject(signal.reason));
        return first.promise;
      },
    },
    sync: () => {
      isSynced = true;
      first.resolve();
    },
  };
};

describe("reportReadiness", () => {
  const lines: [LogLevel, string, unknown][] = [];
  const log = (level: LogLevel, message: string, fields: unknown): void => void lines.push([level, message, fields]);

  it("names the kinds that are missing until all are there", async () => {
    lines.length = 0;
    const clock = createVirtualClock();
    const [machines, nodes] = [aCache(), aCache()];
    const ended = reportReadiness(
      { machines: machines.cache, nodes: nodes.cache },
      clock,
      log,
      new AbortController().signal,
    );
    await clock.advance(10_000);
    machines.sync();
    await clock.advance(10_000);
    nodes.sync();
    await ended;
    await clock.advance(60_000);
    expect(lines).toEqual([
      ["warn", "Waiting for the first list of some kinds", { kinds: ["machines", "nodes"] }],
      ["warn", "Waiting for the first list of some kinds", { kinds: ["nodes"] }],
      ["info", "Ready", {}],
    ]);
    expect(clock.pending()).toBe(0);
  });

  it("ends silently when it is stopped", async () => {
    lines.length = 0;
    const clock = createVirtualClock();
    const stop = new AbortController();
    const ended = reportReadiness({ machines: aCache().cache }, clock, log, stop.signal);
    stop.abort(new Error("stop"));
    await ended;
    expect(lines).toEqual([]);
    expect(clock.pending()).toBe(0);
  });
});
