import { type Machine, machineDeploymentResource, machineResource, phaseOf } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { findCondition } from "@millwright/kube";
import { isDeleting } from "../model/phase.ts";
import { inPhase, testNamespace } from "../testing/builders.ts";
import { createFaultyRollout, pool, faults } from "../testing/faulty-rollout.ts";

const strategy = fc.oneof(
  fc.constant({ type: "Recreate", rollingUpdate: null }),
  fc
    .record({ maxSurge: fc.nat(2), maxUnavailable: fc.integer({ min: 1, max: 2 }) })
    .map((rollingUpdate) => ({ type: "RollingUpdate", rollingUpdate })),
);
/** What people want of a deployment. */
const edit = fc.oneof(
  fc.record({ replicas: fc.nat(5) }),
  fc.record({ paused: fc.boolean() }),
  fc.record({ strategy }),
  fc.constantFrom("small", "big", "huge").map((name) => ({ template: { spec: { class: { name } } } })),
  fc.constant({ rollbackTo: { revision: 0 } }),
);
const step = fc.oneof(
  { weight: 6, arbitrary: faults.map((fault) => ({ kind: "fault" as const, fault })) },
  { weight: 2, arbitrary: edit.map((spec) => ({ kind: "edit" as const, spec })) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("fail" as const, "vanish" as const), which: fc.nat(20) }),
  },
);

it("comes to what is wanted in the end, whatever was wanted before and whatever failed, with late watches, lost answers and restarts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50, size: "max" }), async (steps) => {
      const world = createFaultyRollout({});
      const at = ({ metadata: { name } }: Machine) => ({ namespace: testNamespace, name });
      const staying = () => world.machines().filter((machine) => !isDeleting(machine));
      world.startProcess();
      await world.take({ kind: "wait", seconds: 2 });
      let most = 3;
      for (const each of steps) {
        if (each.kind === "fault") await world.take(each.fault);
        else if (each.kind === "edit") {
          if ("replicas" in each.spec) most = Math.max(most, each.spec.replicas);
          world.api.change(machineDeploymentResource, pool, {
            metadata: { generation: (world.deployment()?.metadata.generation ?? 0) + 1 },
            spec: each.spec,
          });
        } else {
          const machine = staying()[each.which % Math.max(1, staying().length)];
          if (machine !== undefined && each.kind === "vanish") world.api.remove(machineResource, at(machine));
          else if (machine !== undefined) world.api.change(machineResource, at(machine), inPhase("Failed"));
        }
        await world.take({ kind: "wait", seconds: 1 });
        // The surge of the scenarios is two at most.
        expect(staying().length).toBeLessThanOrEqual(most + 2);
      }

      world.api.change(machineDeploymentResource, pool, { spec: { paused: false } });
      await world.liveWell(50);
      const { spec, status, metadata } = world.deployment() ?? {};
      expect(world.machines().map((machine) => [machine.spec.class?.name, phaseOf(machine)])).toEqual(
        Array.from({ length: spec?.replicas ?? 0 }, () => [spec?.template.spec.class?.name, "Running"]),
      );
      const wanted = world.sets().filter((set) => set.spec.replicas !== 0);
      expect(wanted.map((set) => [set.spec.replicas, set.spec.template.spec.class?.name])).toEqual(
        spec?.replicas === 0 ? [] : [[spec?.replicas, spec?.template.spec.class?.name]],
      );
      expect(findCondition(status?.conditions, "Progressing")?.reason).toBe("NewMachineSetAvailable");
      expect([status?.observedGeneration, spec?.rollbackTo]).toEqual([metadata?.generation, undefined]);
      expect([world.deployment(), ...world.sets()].filter((each) => each?.metadata.labels?.["freeze"])).toEqual([]);
      await world.end();
    }),
    { numRuns: 30 },
  );
}, 300_000);
