import { type Machine, machineResource, type MachineSet, machineSetResource } from "@millwright/core/machine-api";
import { ApiError, controllerRefOf } from "@millwright/kube";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import { aMachineSet, inPhase, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createLateApi } from "../testing/late-api.ts";
import { createMachineSetController } from "./controller.ts";

const ref = { namespace: testNamespace, name: "set" };

/** Longest time that watches are late, below the time after which a creation without answer is given up. */
const LATEST_MS = 60_000;

type Step =
  | { readonly kind: "wait"; readonly seconds: number }
  | {
      readonly kind: "fault";
      readonly verb: "create" | "delete" | "patch";
      readonly status: 0 | 403 | 409 | 503;
      readonly times: number;
      readonly isDone: boolean;
    }
  | { readonly kind: "scale"; readonly replicas: number }
  | { readonly kind: "fail" | "finish" | "remove" | "unlabel"; readonly which: number }
  | { readonly kind: "hold" | "release" | "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("fault" as const),
      verb: fc.constantFrom("create" as const, "delete" as const, "patch" as const),
      status: fc.constantFrom(0 as const, 403 as const, 409 as const, 503 as const),
      times: fc.integer({ min: 1, max: 3 }),
      isDone: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("scale" as const), replicas: fc.nat(5) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("fail" as const, "finish" as const, "remove" as const, "unlabel" as const),
      which: fc.nat(20),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("hold" as const, "release" as const, "restart" as const) }),
  },
);

/** A set of three machines, its controller, and a world that loses answers, is late, fails and restarts. */
function createWorld() {
  const { api, clock, newContext } = createTestCluster();
  api.seed(machineSetResource, aMachineSet());
  const late = createLateApi(api, () => clock.monotonicMs());
  const { release } = late;

  let stop = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const startProcess = (): void => {
    const { target: _, ...context } = newContext();
    const caches = createControlCaches({ api: late, clock, random: context.random, namespace: testNamespace });
    const { signal } = stop;
    running = Promise.allSettled([
      ...Object.values(caches).map((cache) => cache.run(signal)),
      createMachineSetController({ ...context, control: late, caches }, 2).start(signal),
    ]);
  };
  const end = async (): Promise<void> => {
    stop.abort(new Error("the process ends"));
    release();
    await running;
  };

  const ours = (): readonly Machine[] =>
    api.all<Machine>(machineResource).filter((machine) => controllerRefOf(machine)?.uid === "uid-set");
  const staying = (): readonly Machine[] => ours().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const going = (): readonly Machine[] => ours().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const nth = (list: readonly Machine[], which: number) => {
    const name = list[which % Math.max(1, list.length)]?.metadata.name;
    return name === undefined ? undefined : { namespace: testNamespace, name };
  };
  const wait = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left--) {
      if (clock.monotonicMs() - (late.heldSinceMs() ?? Infinity) >= LATEST_MS) release();
      await clock.advance(1_000);
    }
  };

  return {
    api,
    ours,
    staying,
    going,
    released: () => api.all<Machine>(machineResource).filter((machine) => controllerRefOf(machine) === undefined),
    set: () => api.peek<MachineSet>(machineSetResource, ref),
    startProcess,
    end,
    wait,
    release,
    async take(each: Step): Promise<void> {
      switch (each.kind) {
        case "wait":
          return wait(each.seconds);
        case "fault": {
          const error = new ApiError({
            status: each.status,
            reason: each.status === 409 ? "Conflict" : "Fault",
            message: "injected",
          });
          // A refusal is never carried out.
          const phase = each.isDone && (each.status === 0 || each.status === 503) ? "after" : "before";
          return api.inject({ verb: each.verb, error, times: each.times, phase });
        }
        case "scale":
          return void api.change(machineSetResource, ref, { spec: { replicas: each.replicas } });
        case "fail":
        case "unlabel": {
          const found = nth(staying(), each.which);
          const change = each.kind === "fail" ? inPhase("Failed") : { metadata: { labels: { name: null } } };
          return found === undefined ? undefined : void api.change(machineResource, found, change);
        }
        case "finish":
        case "remove": {
          const found = nth(each.kind === "finish" ? going() : staying(), each.which);
          return found === undefined ? undefined : api.remove(machineResource, found);
        }
        case "hold":
          return late.hold("Machine");
        case "release":
          return release();
        case "restart":
          await end();
          stop = new AbortController();
          return startProcess();
      }
    },
  };
}

it("never has more machines than it may, with late watches, lost answers and restarts, and comes to rest at what is wanted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const world = createWorld();
      world.startProcess();
      await world.wait(2);
      let most = 3;
      for (const each of steps.flatMap((one): Step[] => [one, { kind: "wait", seconds: 1 }])) {
        if (each.kind === "scale") most = Math.max(most, each.replicas);
        await world.take(each);
        // None that stays is beyond the greatest size, and none at all beyond the ceiling of that.
        expect(world.staying().length).toBeLessThanOrEqual(most);
        expect(world.ours().length).toBeLessThanOrEqual(2 * most + 2);
      }

      world.release();
      for (let round = 0; round < 12; round++) {
        await world.wait(60);
        // A user deletes the released machines, which may have frozen the set.
        for (const { metadata } of [...world.going(), ...world.released()])
          world.api.remove(machineResource, { namespace: testNamespace, name: metadata.name });
      }
      const set = world.set();
      expect(world.ours().length).toBe(set?.spec.replicas);
      expect(set?.status?.replicas).toBe(set?.spec.replicas);
      expect(world.ours().filter((machine) => machine.status?.currentStatus?.phase === "Failed")).toEqual([]);
      expect(set?.metadata.labels).not.toHaveProperty("freeze");
      await world.end();
    }),
    { numRuns: 120 },
  );
}, 240_000);
