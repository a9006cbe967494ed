import { type Clock, type Random, systemClock, systemRandom } from "@millwright/base";
import { type ApiClient, createFencedClient, type Log, noLog, serverClock } from "@millwright/kube";
import type { ServerTimes } from "../metrics/clock-skew.ts";
import type { AttachedShadow } from "../shadow/shadow.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { WriteFence } from "./write-fence.ts";

/** The clusters of a manager, as it may use them, and its sources of time, randomness and logs. */
export interface ManagerClusters {
  readonly control: ApiClient;
  /** Absent: machines are VMs and nothing more. */
  readonly target: ApiClient | undefined;
  /** Whether machines join another cluster than the one in which they are declared. */
  readonly hasOwnTarget: boolean;
  /** The times of the API servers, by cluster. */
  readonly serverTimes: ServerTimes;
  /** With the time of the API server of `control`. */
  readonly clock: Clock;
  /** With the time of this computer. */
  readonly localClock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Wraps the clients of a manager, so that they write only while that is allowed. */
export function connectClusters(
  options: Pick<ManagerOptions, "control" | "target" | "clock" | "random" | "log">,
  fence: Pick<WriteFence, "fence" | "lost">,
  shadow: Pick<AttachedShadow, "client">,
): ManagerClusters {
  const fenced = (api: ApiClient): ApiClient => shadow.client(createFencedClient(api, fence));
  const control = fenced(options.control);
  const target = options.target === undefined ? undefined : fenced(options.target);
  const hasOwnTarget = options.target !== options.control;
  const localClock = options.clock ?? systemClock;
  return {
    control,
    target,
    hasOwnTarget,
    serverTimes: { control: control.serverTime, ...(hasOwnTarget ? { target: target?.serverTime } : {}) },
    clock: serverClock(localClock, control.serverTime),
    localClock,
    random: options.random ?? systemRandom,
    log: options.log ?? noLog,
  };
}
