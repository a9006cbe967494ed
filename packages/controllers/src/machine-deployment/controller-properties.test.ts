import { annotationKeys, machineDeploymentResource, resolveFenceposts } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { findCondition } from "@millwright/kube";
import { isAvailable } from "../model/phase.ts";
import { createFaultyRollout, pool, type Fault, faults } from "../testing/faulty-rollout.ts";

const { canarySteps, onDelete, maintenanceWindows } = annotationKeys;
const ofClass = (name: string) => ({ spec: { template: { spec: { class: { name } } } } });

/** Whether the maintenance window of the scenarios is closed: it opens for a minute at every third. */
const isClosedAt = (now: Date): boolean => now.getUTCMinutes() % 3 !== 0;

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
  steps: fc.array(faults, { maxLength: 60, size: "max" }),
});

it("keeps every promise of a rollout at every moment, with late watches, lost answers and restarts, and comes to its end", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ replicas, maxSurge, maxUnavailable, isRecreate, asked, steps }) => {
      fc.pre(maxSurge + maxUnavailable > 0);
      const bounds = isRecreate
        ? { maxSurge: 0, maxUnavailable: replicas }
        : resolveFenceposts({ replicas, maxSurge, maxUnavailable });
      const world = createFaultyRollout({
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
      for (const each of steps.flatMap((one): Fault[] => [one, { kind: "wait", seconds: 1 }])) {
        const [wasClosed, bigBefore = 0] = [isClosedAt(world.now()), sizes.get("big")];
        await world.take(each);
        const of = (name: string) => world.machines().filter(({ spec }) => spec.class?.name === name);
        // Terminating machines have VMs, too.
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
        const isHeld = annotations[maintenanceWindows] !== undefined && wasClosed && isClosedAt(world.now());
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
    { numRuns: 30 },
  );
}, 300_000);
