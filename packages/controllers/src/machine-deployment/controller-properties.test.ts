import {
  annotationKeys,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  phaseOf,
  resolveFenceposts,
} from "@millwright/core";
import { ApiError } from "@millwright/kube";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import { findCondition } from "../conditions/set-condition.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import { isAvailable, isDeleting } from "../machine/phase.ts";
import { aMachineDeployment, type Change, inPhase, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createLateApi } from "../testing/late-api.ts";
import { createMachineDeploymentController } from "./controller.ts";

const pool = { namespace: testNamespace, name: "pool" };
const { canarySteps, onDelete, maintenanceWindows } = annotationKeys;

/** Longest time that watches are late, below the time after which a creation without answer is given up. */
const LATEST_MS = 60_000;

/** What may happen in the course of a rollout, all of it good for machines and bad for controllers. */
const step = fc.oneof(
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
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const ofClass = (name: string) => ({ spec: { template: { spec: { class: { name } } } } });

/** A deployment of class `small`, its controllers and those of its sets, and a world that loses answers, is late and restarts. */
function createWorld(change: Change<MachineDeployment>) {
  const { api, clock, newContext } = createTestCluster();
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
    async take(each: Step): Promise<void> {
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
          const reason = status === 409 ? "Conflict" : "Trouble";
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
    /** Whether the maintenance window of the scenarios is closed: it opens for a minute at every third. */
    isClosed: () => clock.now().getUTCMinutes() % 3 !== 0,
  };
}

const scenario = fc.record({
  replicas: fc.integer({ min: 1, max: 5 }),
  maxSurge: fc.nat(2),
  maxUnavailable: fc.nat(2),
  isRecreate: fc.constantFrom(false, false, false, true),
  asked: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    {},
    { [canarySteps]: "1/20s,50%/40s" },
    { [canarySteps]: "1/pause" },
    { [onDelete]: "true" },
    { [maintenanceWindows]: "*/3 * * * * 1m" },
  ),
  steps: fc.array(step, { maxLength: 60, size: "max" }),
});

it("keeps every promise of a rollout at every moment, with late watches, lost answers and restarts, and comes to its end", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ replicas, maxSurge, maxUnavailable, isRecreate, asked, steps }) => {
      fc.pre(maxSurge + maxUnavailable > 0);
      const bounds = isRecreate
        ? { maxSurge: 0, maxUnavailable: replicas }
        : resolveFenceposts({ replicas, maxSurge, maxUnavailable });
      const world = createWorld({
        spec: {
          replicas,
          strategy: isRecreate
            ? { type: "Recreate", rollingUpdate: null }
            : { rollingUpdate: { maxSurge, maxUnavailable } },
        },
      });
      world.startProcess();
      await world.take({ kind: "wait", seconds: 2 });
      await world.liveWell(3);
      expect(world.machines().filter(isAvailable)).toHaveLength(replicas);

      const annotations = isRecreate ? {} : asked;
      await world.api.patch(
        machineDeploymentResource,
        pool,
        { metadata: { annotations }, ...ofClass("big") },
        { kind: "merge" },
      );
      const sizes = new Map([
        ["small", replicas],
        ["big", 0],
      ]);
      for (const each of steps.flatMap((one): Step[] => [one, { kind: "wait", seconds: 1 }])) {
        const [wasClosed, bigBefore = 0] = [world.isClosed(), sizes.get("big")];
        await world.take(each);
        const of = (name: string) => world.machines().filter(({ spec }) => spec.class?.name === name);
        // Those on their way out are VMs, too.
        expect(world.machines().length).toBeLessThanOrEqual(replicas + bounds.maxSurge);
        expect(world.machines().filter(isAvailable).length).toBeGreaterThanOrEqual(replicas - bounds.maxUnavailable);
        // Neither template gets back what the other took.
        for (const { spec } of world.sets()) {
          const { name = "" } = spec.template.spec.class ?? {};
          const before = sizes.get(name) ?? 0;
          const size = spec.replicas ?? 0;
          expect(name === "big" ? size - before : before - size).toBeGreaterThanOrEqual(0);
          sizes.set(name, size);
        }
        const [small = 0, big = 0] = [sizes.get("small"), sizes.get("big")];
        const mostNew = Math.min(
          isRecreate && of("small").length > 0 ? 0 : replicas,
          annotations[canarySteps] === "1/pause" ? 1 : replicas,
        );
        expect(of("big").length).toBeLessThanOrEqual(mostNew);
        const leastOld = annotations[onDelete] === undefined ? 0 : replicas;
        expect(of("small").filter(isAvailable).length).toBeGreaterThanOrEqual(leastOld);
        // While no window is open no replacement begins, and what has begun may end.
        const isHeld = annotations[maintenanceWindows] !== undefined && wasClosed && world.isClosed();
        expect(big).toBeLessThanOrEqual(isHeld ? Math.max(bigBefore, replicas - small) : replicas);
      }

      const nothing = Object.fromEntries(Object.keys(annotations).map((key) => [key, null]));
      world.api.change(machineDeploymentResource, pool, { metadata: { annotations: nothing } });
      await world.liveWell(6 * replicas + 18);
      expect(world.machines().map(({ spec }) => spec.class?.name)).toEqual(Array(replicas).fill("big"));
      expect(new Set(world.sets().map(({ spec }) => `${spec.template.spec.class?.name} ${spec.replicas}`))).toEqual(
        new Set(["small 0", `big ${replicas}`]),
      );
      const progress = findCondition(world.deployment()?.status?.conditions, "Progressing");
      expect(progress?.reason).toBe("NewMachineSetAvailable");
      await world.end();
    }),
    { numRuns: 50 },
  );
}, 300_000);
