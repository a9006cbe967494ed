import { seededRandom } from "@millwright/base";
import {
  clusterApiConditionTypes,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { type ApiClient, findCondition } from "@millwright/kube";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import { aMachineDeployment, inPhase, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { seedClasses } from "../testing/running-deployment.ts";
import { createMachineDeploymentController } from "./controller.ts";

const pool = { namespace: testNamespace, name: "pool" };

/** Whether `kubectl wait --for=condition=RollingOut=false` ends here: it asks for the generation of the condition, or else of the status, to be the current one. */
function endsWait({ metadata, status }: MachineDeployment): boolean {
  const condition = findCondition(status?.conditions, clusterApiConditionTypes.rollingOut);
  const seen = condition?.observedGeneration ?? status?.observedGeneration ?? 0;
  return condition?.status === "False" && seen >= (metadata.generation ?? 0);
}

/** Maximum delays, milliseconds; each one is drawn at random. */
interface Lateness {
  readonly seed: number;
  readonly requestMs: number;
  readonly answerMs: number;
  readonly watchMs: number;
}

/** The controllers of sets and deployments with delayed caches and machines, and a client that waits for the end of every rollout. */
function createWorld({ seed, requestMs, answerMs, watchMs }: Lateness) {
  const { api, clock, newContext } = createTestCluster();
  const random = seededRandom(seed);
  const some = (most: number): number => Math.floor(random.next() * (most + 1));
  const wrong = new Set<string>();
  let endedAt: number | undefined;
  const deployment = () => api.peek<MachineDeployment>(machineDeploymentResource, pool);

  /** The stored objects, as a waiting client sees them. To be called after each write. */
  const look = (): void => {
    const found = deployment();
    if (found === undefined) return;
    const { generation } = found.metadata;
    if (endsWait(found)) endedAt = generation;
    if (endedAt !== generation) return;
    const wanted = found.spec.template.spec.class?.name;
    for (const { metadata, spec } of api.all<Machine>(machineResource))
      if (spec.class?.name !== wanted)
        wrong.add(
          `generation ${generation} was rolled out, and there is ${metadata.name} of class ${spec.class?.name}`,
        );
  };
  const write = async <R>(perform: () => Promise<R>): Promise<R> => {
    await clock.sleep(some(requestMs));
    try {
      return await perform();
    } finally {
      look();
      await clock.sleep(some(answerMs));
    }
  };
  const late: ApiClient = {
    ...api,
    create: (...args) => write(() => api.create(...args)),
    patch: (...args) => write(() => api.patch(...args)),
    delete: (...args) => write(() => api.delete(...args)),
    async *watch(type, options, signal) {
      for await (const event of api.watch(type, options, signal)) {
        await clock.sleep(some(watchMs), signal);
        yield event;
      }
    },
  };

  seedClasses(api);
  api.seed(machineDeploymentResource, aMachineDeployment());
  const { target: _, ...context } = newContext();
  const caches = createControlCaches({ api: late, clock, random: context.random, namespace: testNamespace });
  const lateContext = { ...context, control: late, caches };
  const stop = new AbortController();
  const running = Promise.allSettled([
    ...Object.values(caches).map((cache) => cache.run(stop.signal)),
    createMachineSetController(lateContext, 2).start(stop.signal),
    createMachineDeploymentController(lateContext, 2).start(stop.signal),
  ]);
  const machines = () => api.all<Machine>(machineResource);

  return {
    machines,
    wrong: () => [...wrong],
    isOver: () => endedAt === deployment()?.metadata.generation,
    /** Whether a waiting client has seen the end, and all machines of the last template serve. */
    isAtRest(): boolean {
      const wanted = deployment()?.spec;
      const serving = machines().filter(
        ({ spec, status }) =>
          spec.class?.name === wanted?.template.spec.class?.name && status?.currentStatus?.phase === "Available",
      );
      return endedAt === deployment()?.metadata.generation && serving.length === wanted?.replicas;
    },
    wait: (ms: number) => clock.advance(ms),
    /** A user applies another template. */
    apply(className: string): void {
      const generation = (deployment()?.metadata.generation ?? 0) + 1;
      const spec = { template: { spec: { class: { name: className } } } };
      api.change(machineDeploymentResource, pool, { metadata: { generation }, spec });
      look();
    },
    /** A machine begins to run, or is gone, by whatever it is on its way to. */
    live(which: number): void {
      const due = machines().filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp !== undefined || status?.currentStatus?.phase !== "Available",
      );
      const found = due[which % Math.max(1, due.length)];
      if (found === undefined) return;
      const ref = { namespace: testNamespace, name: found.metadata.name };
      if (found.metadata.deletionTimestamp === undefined) api.change(machineResource, ref, inPhase("Available"));
      else api.remove(machineResource, ref);
      look();
    },
    async end(): Promise<void> {
      stop.abort(new Error("the test is over"));
      // Ends all sleeps.
      for (let round = 0; round < 5; round++) await clock.advance(1_000);
      await running;
    },
  };
}

type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "apply"; readonly className: string }
  | { readonly kind: "live"; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 5, 20, 60, 300, 1_500) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("apply" as const), className: fc.constantFrom("small", "big") }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("live" as const), which: fc.nat(10) }) },
);
const lateness: fc.Arbitrary<Lateness> = fc.record({
  seed: fc.nat(1_000_000),
  requestMs: fc.constantFrom(0, 5, 50),
  answerMs: fc.constantFrom(0, 5, 50),
  watchMs: fc.constantFrom(0, 5, 50),
});

it("never ends a wait for the end of a rollout before the last old machine is gone and none can come any more", async () => {
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(lateness, fc.array(step, { maxLength: 40, size: "max" }), async (late, steps) => {
      const world = createWorld(late);
      try {
        for (const each of steps) {
          if (each.kind === "wait") await world.wait(each.ms);
          else if (each.kind === "apply") world.apply(each.className);
          else world.live(each.which);
        }
        for (let round = 0; round < 60 && !world.isAtRest(); round++) {
          for (let which = world.machines().length; which > 0; which--) world.live(0);
          await world.wait(2_000);
        }
        expect(world.wrong()).toEqual([]);
        expect(world.isOver()).toBe(true);
        ended++;
      } finally {
        await world.end();
      }
    }),
    { numRuns: 60 },
  );
  expect(ended).toBeGreaterThan(0);
}, 300_000);
