import { createVirtualClock } from "@millwright/core/testing";
import type { Contact } from "@millwright/kube";
import { expect, it } from "vitest";
import { createContactWatch } from "./connectivity-watch.ts";

/** A contact that is as a test says. */
function aContact() {
  let lostForMs = 0;
  const listeners: ((ms: number) => void)[] = [];
  const losses: { readonly afterMs: number; readonly tell: () => void }[] = [];
  const contact: Contact = {
    lostForMs: () => lostForMs,
    onRegained: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
    onLost: (afterMs, tell) => {
      losses.push({ afterMs, tell });
      return () => undefined;
    },
  };
  return {
    contact,
    lose: (ms: number) => {
      lostForMs = ms;
      for (const { afterMs, tell } of losses) if (ms > afterMs) tell();
    },
    regain: () => {
      const ms = lostForMs;
      lostForMs = 0;
      for (const listener of listeners) listener(ms);
    },
  };
}

it("finds contact lost while one of the caches has none, and back when none is left without", async () => {
  const clock = createVirtualClock();
  const [nodes, machines] = [aContact(), aContact()];
  const regained: number[] = [];
  let losses = 0;
  const view = createContactWatch({
    contacts: [nodes.contact, machines.contact],
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

it("takes no notice of hitches", () => {
  const nodes = aContact();
  const regained: number[] = [];
  const onLost = (): never => {
    throw new Error("nothing was lost");
  };
  const clock = createVirtualClock();
  const options = { clock, lostAfterMs: 30_000, onLost, onRegained: (ms: number) => regained.push(ms) };
  const view = createContactWatch({ contacts: [nodes.contact], ...options });
  nodes.lose(20_000);
  nodes.regain();
  expect(view()).toEqual({ isLost: false, regainedAt: undefined });
  expect(regained).toEqual([]);
});
