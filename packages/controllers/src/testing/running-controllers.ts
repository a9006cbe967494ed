import { seededRandom } from "@millwright/base";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { type ApiObject, type Controller, type EventRecord, keyOf } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { onTestFinished } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { testNamespace } from "./builders.ts";

/** Controllers at work on a fake API server, in virtual time. */
export interface RunningControllers {
  readonly api: FakeApi;
  readonly clock: VirtualClock;
  /** Events so far: `reason message`. */
  readonly events: string[];
  /** Lets the controllers work until they have nothing to do at this moment; then lets `ms` milliseconds pass. */
  settle(ms?: number): Promise<void>;
  /** Machines of the namespace, by name. */
  machines(): readonly Machine[];
  /** Ends them before the test does. */
  stop(): Promise<void>;
}

/** Turns of the event loop in which everything that is ready has run, with a margin. */
const TURNS = 60;

/** Starts what `make` makes, with caches that follow the fake API server, until the test is over. Seed it with `prepare`. */
export async function runControllers(
  make: (context: ControllerContext) => readonly Controller[],
  prepare: (api: FakeApi) => void = () => {},
): Promise<RunningControllers> {
  const clock = createVirtualClock();
  const random = seededRandom(7);
  const api = createFakeApi({ clock, random: seededRandom(8) });
  prepare(api);
  const events: string[] = [];
  const caches = createControlCaches({ api, clock, random, namespace: testNamespace });
  const context: ControllerContext = {
    namespace: testNamespace,
    control: api,
    caches,
    clock,
    random,
    log: () => {},
    events: {
      record: (_: ApiObject, { reason, message }: EventRecord) => void events.push(`${reason} ${message}`),
      flush: async () => {},
      close: () => {},
      counts: () => ({ sent: 0, dropped: 0 }),
    },
  };
  const stop = new AbortController();
  const running = [
    ...Object.values(caches).map((cache) => cache.run(stop.signal)),
    ...make(context).map((controller) => controller.start(stop.signal)),
  ];
  const settle = async (ms = 0): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn++) await clock.advance(0);
    if (ms === 0) return;
    await clock.advance(ms);
    await settle();
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error("the test is over"));
    await Promise.allSettled(running);
  };
  onTestFinished(end);
  await settle();
  return {
    api,
    clock,
    events,
    settle,
    machines: () => api.all<Machine>(machineResource).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    stop: end,
  };
}
