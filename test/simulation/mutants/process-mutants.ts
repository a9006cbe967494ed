import type { Clock } from "@millwright/base";
import { sleepWith } from "@millwright/core/testing";
import type { Alteration } from "../world/controller-process.ts";
import { canary } from "../world/world.ts";
import type { Mutant } from "./mutant.ts";

/** Replaces the delays of the timers of the controllers. */
const withTimers = (delayOf: (ms: number) => number): Alteration => ({
  manager(options) {
    const { clock } = options;
    if (clock === undefined) return options;
    const setTimer: Clock["setTimer"] = (ms, run) => clock.setTimer(delayOf(ms), run);
    const altered: Clock = {
      ...clock,
      setTimer,
      sleep: (ms: number, signal?: AbortSignal) => sleepWith(setTimer, ms, signal),
    };
    return { ...options, clock: altered };
  },
});

/** Mistakes with leases, timers and logs. */
export const processMutants: Readonly<Record<string, Mutant>> = {
  "no-lease-required": {
    mistake: "a process acts without waiting for the leases",
    profile: "processes",
    foundBySeed: 2,
    alteration: () => ({
      manager({ leadership, ...options }) {
        const acquired = async (signal?: AbortSignal): Promise<void> =>
          void leadership?.acquired(signal).catch(() => undefined);
        return { ...options, leadership: { acquired, fence: () => undefined, lost: new AbortController().signal } };
      },
    }),
  },
  "timer-lost": {
    mistake: "every second timer of 20 s and more never fires",
    profile: "cloud",
    foundBySeed: 1,
    alteration() {
      let timers = 0;
      return withTimers((ms) => (ms >= 20_000 && ++timers % 2 === 0 ? Number.POSITIVE_INFINITY : ms));
    },
  },
  "secret-logged": {
    mistake: "a log line has the user data of a machine",
    profile: "people",
    foundBySeed: 1,
    alteration: () => ({
      manager: ({ log, ...options }) => ({
        ...options,
        log: (level, message, fields) => log?.(level, `${message}: ${canary}`, fields),
      }),
    }),
  },
};
