import { createVirtualClock } from "@millwright/core/testing";
import type { Contact } from "@millwright/kube";
import { expect, it } from "vitest";
import { createContactWatch } from "./contact-watch.ts";

/** A contact that is as a test says. */
function aContact() {
  let lostForMs = 0;
  const listeners: ((ms: number) => void)[] = [];
  const contact: Contact = {
    lostForMs: () => lostForMs,
    onRegained: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  return {
    contact,
    lose: (ms: number) => (lostForMs = ms),
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
  const view = createContactWatch({
    contacts: [nodes.contact, machines.contact],
    clock,
    lostAfterMs: 30_000,
    onRegained: (ms) => regained.push(ms),
  });
  expect(view()).toEqual({ isLost: false, regainedAt: undefined });
  nodes.lose(30_000);
  expect(view().isLost).toBe(false);
  nodes.lose(30_001);
  machines.lose(40_000);
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
  const options = { clock: createVirtualClock(), lostAfterMs: 30_000, onRegained: (ms: number) => regained.push(ms) };
  const view = createContactWatch({ contacts: [nodes.contact], ...options });
  nodes.lose(20_000);
  nodes.regain();
  expect(view()).toEqual({ isLost: false, regainedAt: undefined });
  expect(regained).toEqual([]);
});
