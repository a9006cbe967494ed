import { canary } from "../world/world.ts";
import type { Mutant } from "./mutant.ts";

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
