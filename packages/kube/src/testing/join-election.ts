import { type Clock, type Random, seededRandom } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { createElector } from "../leader-election/elector.ts";
import type { Log } from "../log.ts";
import { readElectionTimes } from "../leader-election/settings.ts";

/** Lets a candidate take part in the election of leases, and records what it reports. */
export function joinElection(
  api: Pick<ApiClient, "get" | "create" | "replace">,
  clock: Clock,
  identity: string,
  leases: readonly { readonly namespace: string; readonly name: string }[] = [{ namespace: "default", name: "l" }],
  random: Random = seededRandom(identity.length),
  log?: Log,
) {
  const stop = new AbortController();
  const state = {
    untilMs: -Infinity,
    terms: 0,
    ended: undefined as string | undefined,
    holder: "",
    stalled: false,
    rewinds: [] as string[],
  };
  const elector = createElector({
    api,
    leases,
    identity,
    settings: readElectionTimes(),
    clock,
    random,
    report: {
      leading: (untilMs) => {
        if (state.untilMs === -Infinity) state.terms++;
        state.untilMs = untilMs;
      },
      holder: (holder) => (state.holder = holder),
      rewound: (found) => state.rewinds.push(found),
      ended: (because) => {
        state.untilMs = -Infinity;
        state.ended = because;
      },
    },
    log,
    unhealthyReason: () => (state.stalled ? "stalled" : undefined),
  });
  const running = elector.run(stop.signal);
  return {
    state,
    isLeader: () => clock.monotonicMs() < state.untilMs,
    stop: async () => {
      stop.abort(new Error("stop"));
      await running;
    },
    running,
  };
}
