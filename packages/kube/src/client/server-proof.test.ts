import { createVirtualClock } from "@millwright/base/testing";
import { ApiError } from "./api-error.ts";
import { expect, it } from "vitest";
import { createServerProof, isRejection } from "./server-proof.ts";

function setUp() {
  const clock = createVirtualClock();
  const state = { needed: false, responds: true, probes: 0 };
  const lines: string[] = [];
  const proof = createServerProof({
    clock,
    lostAfterMs: 30_000,
    isNeeded: () => state.needed,
    // A server that stalls lets the whole deadline pass.
    async probe(timeoutMs, signal) {
      state.probes++;
      if (!state.responds) await clock.sleep(timeoutMs, signal).catch(() => undefined);
      return state.responds;
    },
    onLost: () => lines.push("lost"),
    onRegained: (ms) => lines.push(`regained after ${ms}`),
  });
  const stop = new AbortController();
  const ended = proof.run(stop.signal);
  return {
    clock,
    state,
    lines,
    view: proof.view,
    end: async () => {
      stop.abort(new Error("the test ends"));
      await ended;
    },
  };
}

it("asks the server only while it is needed", async () => {
  const { clock, state, view, end } = setUp();
  await clock.advance(600_000);
  expect([state.probes, view()]).toEqual([0, { isLost: false, isUnproven: false, regainedMs: undefined }]);
  state.needed = true;
  await clock.advance(60_000);
  expect([state.probes, view().isUnproven]).toEqual([6, false]);
  state.needed = false;
  await clock.advance(600_000);
  expect(state.probes).toBe(6);
  await end();
});

it("forgets no loss of a server because no machine has a timeout meanwhile", async () => {
  const { clock, state, view, end } = setUp();
  state.needed = true;
  state.responds = false;
  await clock.advance(60_000);
  state.needed = false;
  await clock.advance(60_000);
  expect(view().isLost).toBe(true);
  await end();
});

it("detects within the limit that a server stalls, and when it responds again", async () => {
  const { clock, state, lines, view, end } = setUp();
  state.needed = true;
  await clock.advance(60_000);
  state.responds = false;
  await clock.advance(21_000);
  expect([view().isLost, view().isUnproven]).toEqual([false, true]);
  await clock.advance(10_000);
  expect([view().isLost, view().isUnproven]).toEqual([true, true]);
  await clock.advance(60_000);
  expect(lines).toEqual(["lost"]);
  state.responds = true;
  await clock.advance(20_000);
  expect(view()).toMatchObject({ isLost: false, isUnproven: false });
  expect(lines).toEqual(["lost", expect.stringMatching(/^regained after 1\d\d000$/)]);
  expect(clock.monotonicMs() - (view().regainedMs ?? 0)).toBeLessThan(20_000);
  await end();
});

it("proves nothing before the first response, and does not count a short stall", async () => {
  const { clock, state, lines, view, end } = setUp();
  state.responds = false;
  state.needed = true;
  await clock.advance(12_000);
  expect([view().isLost, view().isUnproven]).toEqual([false, true]);
  state.responds = true;
  await clock.advance(10_000);
  expect([view().isUnproven, lines]).toEqual([false, []]);
  await end();
});

it.each([
  [400, true],
  [403, true],
  [429, true],
  [499, true],
  [500, false],
  [503, false],
  [0, false],
])("takes an error of status %i for a response: %s", (status, isResponse) => {
  expect(isRejection(new ApiError({ status, reason: "x", message: "x" }))).toBe(isResponse);
  expect(isRejection(new Error("no response"))).toBe(false);
});
