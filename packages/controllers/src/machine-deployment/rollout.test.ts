import { phaseOf, resolveFenceposts } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAvailable, isDeleting } from "../model/phase.ts";
import { ofClass } from "../testing/begun-rollout.ts";
import { aMachineDeployment } from "../testing/builders.ts";
import { createRolloutModel } from "../testing/rollout-model.ts";
import { classOf, goWell, settle } from "../testing/rollout-transcript.ts";

describe("a rollout", () => {
  /** What may happen to a machine in a round of a bad time. */
  const fate = fc.constantFrom("nothing", "well", "well", "fails");
  const scenario = fc.record({
    replicas: fc.nat(6),
    maxSurge: fc.nat(3),
    maxUnavailable: fc.nat(3),
    isRecreate: fc.boolean(),
    templates: fc.integer({ min: 1, max: 3 }),
    rounds: fc.array(fc.array(fate, { minLength: 12, maxLength: 12 }), { maxLength: 12 }),
    canFail: fc.boolean(),
  });

  it("converges whatever happens to the machines on the way, and never swings back", () => {
    fc.assert(
      fc.property(scenario, ({ replicas, maxSurge, maxUnavailable, isRecreate, templates, rounds, canFail }) => {
        const strategy = isRecreate
          ? { type: "Recreate", rollingUpdate: null }
          : { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
        const model = createRolloutModel(aMachineDeployment({ spec: { replicas, strategy } }));
        const bounds = resolveFenceposts({ replicas, maxSurge, maxUnavailable });
        settle(model);

        const sizes = () => new Map(model.sets().map(({ metadata, spec }) => [metadata.name, spec.replicas ?? 0]));
        const check = (before: ReadonlyMap<string, number>, wanted: string): void => {
          for (const [name, size] of sizes()) {
            const old = before.get(name) ?? 0;
            const [least, most] = classOf(model, name) === wanted ? [old, replicas] : [0, old];
            expect(size).toBeGreaterThanOrEqual(least);
            expect(size).toBeLessThanOrEqual(most);
          }
          const staying = model.machines().filter((machine) => !isDeleting(machine));
          expect(staying.length).toBeLessThanOrEqual(replicas + (isRecreate ? 0 : bounds.maxSurge));
          const promised = canFail || isRecreate ? 0 : replicas - bounds.maxUnavailable;
          expect(staying.filter(isAvailable).length).toBeGreaterThanOrEqual(promised);
        };

        for (let template = 1; template <= templates; template++) {
          const wanted = `class-${template}`;
          model.change(ofClass(wanted));
          for (const fates of rounds) {
            const before = sizes();
            model.decideDeployment();
            model.decideSets();
            check(before, wanted);
            for (const [index, machine] of model.machines().entries()) {
              const what = fates[index % fates.length];
              if (what === "nothing") continue;
              if (isDeleting(machine)) model.finishDeletion(machine);
              else if (what === "well" && phaseOf(machine) === "Pending") model.setPhase(machine, "Running");
              else if (what === "fails" && canFail) model.setPhase(machine, "Failed");
            }
          }
        }
        settle(model);

        const wanted = `class-${templates}`;
        for (const { spec } of model.sets()) {
          expect(spec.replicas).toBe(spec.template.spec.class?.name === wanted ? replicas : 0);
        }
        expect(model.machines().map(({ spec }) => spec.class?.name)).toEqual(
          Array.from({ length: replicas }, () => wanted),
        );
        const progress = model.deployment().status?.conditions?.find(({ type }) => type === "Progressing");
        expect(progress?.reason).toBe("NewMachineSetAvailable");
      }),
      { numRuns: 150 },
    );
  });

  it("comes to rest at the wanted size when it is scaled on the way, paused or not", () => {
    const step = fc.record({
      replicas: fc.nat(6),
      paused: fc.boolean(),
      rounds: fc.nat(4),
      template: fc.constantFrom("a", "b", "c"),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(2), (steps, maxSurge) => {
        const model = createRolloutModel(
          aMachineDeployment({ spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable: 1 } } } }),
        );
        settle(model);
        for (const { replicas, paused, rounds, template } of steps) {
          model.change(ofClass(template));
          model.change({ spec: { replicas, paused } });
          for (let round = 0; round < rounds; round++) {
            model.decideDeployment();
            model.decideSets();
            goWell(model);
          }
        }
        model.change({ spec: { paused: false } });
        settle(model);
        const { replicas, template } = steps.at(-1) ?? {};
        expect(model.machines().map(({ spec }) => spec.class?.name)).toEqual(
          Array.from({ length: replicas ?? 0 }, () => template),
        );
      }),
      { numRuns: 150 },
    );
  });
});
