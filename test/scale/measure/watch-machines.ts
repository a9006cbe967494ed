import { systemClock, systemRandom } from "@millwright/base";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import { type ApiClient, createInformer } from "@millwright/kube";
import { createMachineTimeline, type MachineTimeline } from "./machine-times.ts";

/** A watch of all machines. */
export interface WatchedMachines {
  readonly timeline: MachineTimeline;
  list(): readonly Machine[];
  stop(): Promise<void>;
}

/** Starts it; resolves after the first list. */
export async function watchMachines(api: ApiClient): Promise<WatchedMachines> {
  const stop = new AbortController();
  const informer = createInformer<Machine>({ api, type: machineResource, clock: systemClock, random: systemRandom });
  const timeline = createMachineTimeline(() => performance.now());
  informer.store.subscribe((old, current) => timeline.observe(old, current));
  const running = informer.run(stop.signal);
  await informer.synced(stop.signal);
  return {
    timeline,
    list: () => informer.store.list(),
    async stop() {
      stop.abort(new Error("the measurement ends"));
      await running;
    },
  };
}
