import { createVirtualClock } from "@millwright/base/testing";
import type { Connectivity } from "./connectivity.ts";
import { expect, it } from "vitest";
import { createConnectivityWatch } from "./server-proof.ts";

/** A connectivity that a test sets. */
function aConnectivity() {
  let lostForMs = 0;
  const listeners: ((ms: number) => void)[] = [];
  const losses: { readonly afterMs: number; readonly notify: () => void }[] = [];
  const connectivity: Connectivity = {
    lostForMs: () => lostForMs,
    onRegained: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
    onLost: (afterMs, notify) => {
      losses.push({ afterMs, notify });
      return () => undefined;
    },
  };
  return {
    connectivity,
    lose: (ms: number) => {
      lostForMs = ms;
      for (const { afterMs, notify } of losses) if (ms > afterMs) notify();
    },
    regain: () => {
      const ms = lostForMs;
      lostForMs = 0;
      for (const listener of listeners) listener(ms);
    },
  };
}

it("is lost while one of the caches has no connectivity, and regained when all have", async () => {
  const clock = createVirtualClock();
  const [nodes, machines] = [aConnectivity(), aConnectivity()];
  const regained: number[] = [];
  let losses = 0;
  const view = createConnectivityWatch({
    connectivity: [nodes.connectivity, machines.connectivity],
    clock,
    lostAfterMs: 30_000,
    onLost: () => losses++,
    onRegained: (ms) => regained.push(ms),
  });
  expect(view()).toEqual({ isLost: false, regainedAt: undefined });
  nodes.lose(30_000);
  expect([view().isLost, losses]).toEqual([false, 0]);
  nodes.lose(30_001);
  machines.lose(40_000);
  expect(losses).toBe(2);
  expect(view()).toEqual({ isLost: true, regainedAt: undefined });
  nodes.regain();
  expect(view()).toEqual({ isLost: true, regainedAt: clock.now().getTime() });
  expect(regained).toEqual([]);
  await clock.advance(1_000);
  machines.regain();
  expect(view()).toEqual({ isLost: false, regainedAt: clock.now().getTime() });
  expect(regained).toEqual([40_000]);
});

it("ignores short interruptions", () => {
  const nodes = aConnectivity();
  const regained: number[] = [];
  const onLost = (): never => {
    throw new Error("nothing was lost");
  };
  const clock = createVirtualClock();
  const options = { clock, lostAfterMs: 30_000, onLost, onRegained: (ms: number) => regained.push(ms) };
  const view = createConnectivityWatch({ connectivity: [nodes.connectivity], ...options });
  nodes.lose(20_000);
  nodes.regain();
  expect(view()).toEqual({ isLost: false, regainedAt: undefined });
  expect(regained).toEqual([]);
});
