import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { ApiError } from "@millwright/kube";
import * as fc from "fast-check";
import { createControlCaches } from "../cluster/caches.ts";
import { createMachineDeploymentController } from "../machine-deployment/controller.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import { isDeleting } from "../model/phase.ts";
import { aMachineDeployment, type Change, inPhase, testNamespace } from "./builders.ts";
import { seedClasses } from "./running-deployment.ts";
import { createTestCluster } from "./cluster.ts";
import { createLateApi } from "./late-api.ts";

/** The deployment of a {@link createFaultyRollout}. */
export const pool = { namespace: testNamespace, name: "pool" };

/** Longest time that watches are late, below the time after which a creation without answer is given up. */
const LATEST_MS = 60_000;

/** What may happen in the course of a rollout, all of it good for machines and bad for controllers. */
export const faults = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom("run" as const, "finish" as const), which: fc.nat(20) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      verb: fc.constantFrom("create" as const, "delete" as const, "patch" as const),
      status: fc.constantFrom(0, 403, 409, 503),
      times: fc.integer({ min: 1, max: 3 }),
      isDone: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("hold" as const),
      what: fc.constantFrom("Machine", "MachineSet", "MachineDeployment"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("release" as const, "restart" as const) }) },
);
export type Fault = typeof faults extends fc.Arbitrary<infer T> ? T : never;

/** A deployment of class `small`, its controllers and those of its sets, and a world that loses answers, is late and restarts. */
export function createFaultyRollout(change: Change<MachineDeployment>) {
  const { api, clock, newContext } = createTestCluster();
  seedClasses(api);
  api.seed(machineDeploymentResource, aMachineDeployment(change));
  const late = createLateApi(api, () => clock.monotonicMs());
  let stop = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const startProcess = (): void => {
    stop = new AbortController();
    const { target: _, ...plain } = newContext();
    const caches = createControlCaches({ api: late, clock, random: plain.random, namespace: testNamespace });
    const context = { ...plain, control: late, caches };
    running = Promise.allSettled([
      ...Object.values(caches).map((cache) => cache.run(stop.signal)),
      createMachineDeploymentController(context, 2).start(stop.signal),
      createMachineSetController(context, 2).start(stop.signal),
    ]);
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error("the process ends"));
    late.release();
    await running;
  };
  const machines = (): readonly Machine[] => api.all<Machine>(machineResource);
  const run = ({ metadata: { name } }: Machine): void =>
    void api.change(machineResource, { namespace: testNamespace, name }, inPhase("Running"));
  const finish = ({ metadata: { name } }: Machine): void =>
    api.remove(machineResource, { namespace: testNamespace, name });

  return {
    api,
    machines,
    sets: (): readonly MachineSet[] => api.all<MachineSet>(machineSetResource),
    deployment: () => api.peek<MachineDeployment>(machineDeploymentResource, pool),
    startProcess,
    end,
    async take(each: Fault): Promise<void> {
      switch (each.kind) {
        case "wait":
          for (let left = each.seconds; left > 0; left--) {
            if (clock.monotonicMs() - (late.heldSinceMs() ?? Infinity) >= LATEST_MS) late.release();
            await clock.advance(1_000);
          }
          return;
        case "run":
        case "finish": {
          const isDue = (machine: Machine): boolean =>
            each.kind === "finish" ? isDeleting(machine) : !isDeleting(machine) && phaseOf(machine) !== "Running";
          const due = machines().filter(isDue);
          const machine = due[each.which % Math.max(1, due.length)];
          if (machine !== undefined) (each.kind === "finish" ? finish : run)(machine);
          return;
        }
        case "fault": {
          const { status, verb, times, isDone } = each;
          const reason = status === 409 ? "Conflict" : "Fault";
          const phase = isDone && (status === 0 || status === 503) ? "after" : "before";
          return api.inject({ verb, times, phase, error: new ApiError({ status, reason, message: "injected" }) });
        }
        case "hold":
          return late.hold(each.what);
        case "release":
          return late.release();
        case "restart":
          await end();
          return startProcess();
      }
    },
    /** Everything goes well for so many rounds, each long enough for what is refused, or has no answer, to be tried again. */
    async liveWell(rounds: number): Promise<void> {
      late.release();
      for (let round = 0; round < rounds; round++) {
        for (const machine of machines()) (isDeleting(machine) ? finish : run)(machine);
        await clock.advance(100_000);
      }
    },
    now: () => clock.now(),
  };
}
