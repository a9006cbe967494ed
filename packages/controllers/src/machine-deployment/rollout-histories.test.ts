import {
  annotationKeys,
  type Machine,
  phaseOf,
  type MachineSet,
  resolveFenceposts,
} from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { controllerRefOf } from "@millwright/kube";
import { isAvailable, isDeleting } from "../model/phase.ts";
import { ofClass, sized } from "../testing/begun-rollout.ts";
import { aMachineDeployment, annotated, beingDeleted } from "../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../testing/rollout-model.ts";
import { settle } from "../testing/rollout-transcript.ts";
import { unlimited } from "./state/rollout-gates.ts";

const { canarySteps, canaryContinue, canaryFailed, canaryOnFailure, maintenanceWindows, onDelete, revision, rollout } =
  annotationKeys;
const RUNS = Number(process.env["ROLLOUT_HISTORIES"] ?? 300);
/** None of their waits ends in a history, but by an answer. A window of 2038 never opens in one. */
const allSteps = [undefined, "1/pause", "1/pause,3/pause", "50%/pause", "2/1h", "1/pause,2/1h"] as const;

const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("template" as const), name: fc.constantFrom("a", "b", "c", "d") }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("size" as const), replicas: fc.nat({ max: 9 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fail" as const), which: fc.nat({ max: 20 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("answer" as const), step: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("steps" as const), steps: fc.constantFrom(...allSteps) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rollback" as const), to: fc.constantFrom(0, 1, 2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pause" as const), isPaused: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("window" as const), isClosed: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("onFailure" as const), word: fc.constantFrom("stop", "rollback") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unmark" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("onDelete" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), which: fc.nat({ max: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("other controller" as const), rounds: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose the record" as const) }) },
);
/** An event, and how the world goes on after it: which machines go on in each round, and after how many writes a process is killed. */
const history = fc.array(
  fc.record({
    event,
    rounds: fc.array(
      fc.record({ bits: fc.nat({ max: 255 }), kill: fc.option(fc.nat({ max: 3 }), { nil: undefined }) }),
      {
        minLength: 1,
        maxLength: 8,
      },
    ),
  }),
  { minLength: 3, maxLength: 14 },
);

const classOf = ({ spec }: MachineSet | Machine): string =>
  ("template" in spec ? spec.template.spec.class?.name : spec.class?.name) ?? "";

/** What may spread, kept by what users did and what was there to be seen, without a look at the record. */
interface Oracle {
  /** Classes that may count as proven: one, but where it is not defined which of two. */
  proven: ReadonlySet<string>;
  /** Steps of the rollout under way that were answered, and whether all that there are. */
  answered: number;
  template: string;
  /** The template that was left, until a reconcile has noticed it. */
  left?: string | undefined;
}

const deploymentAnnotation = (model: RolloutModel, key: string): string | undefined =>
  model.deployment().metadata.annotations?.[key];

/** Machines that the steps allow the current template for now. */
function allowedBySteps(model: RolloutModel, answered: number): number {
  const replicas = model.deployment().spec.replicas ?? 0;
  const steps = deploymentAnnotation(model, canarySteps)?.split(",") ?? [];
  const held = steps.find((step, index) => !(step.endsWith("/pause") && index < answered));
  if (held === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(replicas, resolveFenceposts({ replicas, maxSurge: sizeOf(held.split("/")[0] ?? "") }).maxSurge);
}
const sizeOf = (text: string): number | string => (text.endsWith("%") ? text : Number(text));

const total = (model: RolloutModel): number => model.sets().reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);

/** Machines that serve, and that their sets will keep. */
const servingKept = (model: RolloutModel): number =>
  model.sets().reduce((sum, set) => {
    const own = model.machines().filter((each) => controllerRefOf(each)?.uid === set.metadata.uid);
    return sum + Math.min(set.spec.replicas ?? 0, own.filter((each) => isAvailable(each)).length);
  }, 0);

/** Whether all machines that are wanted serve and have this class. Those that go may count or not. */
function isComplete(model: RolloutModel, name: string, countsGoing: boolean): boolean {
  const machines = model.machines().filter((each) => countsGoing || !isDeleting(each));
  const replicas = model.deployment().spec.replicas ?? 0;
  const areServing = machines.every((each) => classOf(each) === name && isAvailable(each));
  return replicas > 0 && machines.length === replicas && areServing;
}

function servingMost(model: RolloutModel): readonly string[] {
  const counts = new Map<string, number>();
  for (const machine of model.machines())
    if (isAvailable(machine)) counts.set(classOf(machine), (counts.get(classOf(machine)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([name]) => name);
}

it(
  "lets no template that is not proven have more machines than its steps, in any history",
  () => {
    const bounds = fc.record({ surge: fc.integer({ min: 0, max: 3 }), unavailable: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(bounds, history, ({ surge, unavailable }, entries) => {
        fc.pre(surge + unavailable > 0);
        const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
        const model = createRolloutModel(
          aMachineDeployment(sized(5), ofClass("a"), { spec: { strategy: { rollingUpdate } } }),
        );
        settle(model);
        const oracle: Oracle = { proven: new Set(["a"]), answered: 0, template: "a" };
        const isUnbound = (): boolean => allowedBySteps(model, oracle.answered) === Number.POSITIVE_INFINITY;

        /** After every change of the template, by a user or a rollback. */
        const noteTemplate = (): void => {
          const template = model.deployment().spec.template.spec.class?.name ?? "";
          if (template === oracle.template) return;
          // A template whose last step was answered may have passed it.
          if (deploymentAnnotation(model, canarySteps) !== undefined && isUnbound())
            oracle.proven = new Set([...oracle.proven, oracle.template]);
          oracle.left = isUnbound() ? oracle.template : undefined;
          oracle.template = template;
          oracle.answered = 0;
        };

        const apply = (what: (typeof entries)[number]["event"]): void => {
          switch (what.kind) {
            case "template":
              return model.change(ofClass(what.name));
            case "size":
              return model.change(sized(what.replicas));
            case "fail": {
              const victim = model.machines().filter((each) => !isDeleting(each))[what.which];
              return victim === undefined ? undefined : model.setPhase(victim, "Failed");
            }
            case "answer": {
              // The natural answer: what the message shows. A set that is not there yet shows none.
              const own = model.sets().find((set) => classOf(set) === oracle.template);
              const current = own?.metadata.annotations?.[revision];
              if (current === undefined || current !== deploymentAnnotation(model, revision)) return;
              model.change(annotated({ [canaryContinue]: `${current}/${what.step}` }));
              // What is passed stays passed, also when the answer is taken back.
              oracle.answered = Math.max(oracle.answered, what.step);
              return;
            }
            case "steps":
              return model.change({
                metadata: { annotations: { [canarySteps]: what.steps ?? null, [onDelete]: null } },
              });
            case "rollback":
              return model.change({ spec: { rollbackTo: { revision: what.to } } });
            case "pause":
              return model.change({ spec: { paused: what.isPaused } });
            case "window":
              return model.change({
                metadata: { annotations: { [maintenanceWindows]: what.isClosed ? "0 0 1 1 * 1m UTC" : null } },
              });
            case "onFailure":
              return model.change(annotated({ [canaryOnFailure]: what.word }));
            // Not together with steps, as the validation requires.
            case "onDelete":
              return model.change({ metadata: { annotations: { [onDelete]: "true", [canarySteps]: null } } });
            case "delete": {
              const victim = model.machines().filter((each) => !isDeleting(each))[what.which];
              return victim === undefined ? undefined : model.changeMachine(victim.metadata.name, beingDeleted());
            }
            case "unmark":
              return model.unmark(canaryFailed);
            case "other controller": {
              const kept = deploymentAnnotation(model, rollout);
              for (let round = 0; round < what.rounds; round++) {
                model.decideDeployment(undefined, unlimited);
                model.change({ metadata: { annotations: { [rollout]: kept ?? null } } });
                model.decideSets();
                advance(model, 255);
              }
              oracle.proven = new Set([...oracle.proven, ...servingMost(model), oracle.template]);
              return;
            }
            case "lose the record":
              model.change({ metadata: { annotations: { [rollout]: null } } });
              // Where none serves, nothing shows what did.
              oracle.proven = new Set([
                ...oracle.proven,
                ...(model.machines().length === 0 ? [oracle.template] : servingMost(model)),
              ]);
          }
        };

        for (const { event: what, rounds } of entries) {
          apply(what);
          noteTemplate();
          for (const { bits, kill } of rounds) {
            const before = new Map(model.sets().map((set) => [set.metadata.name, set.spec.replicas ?? 0]));
            const totalBefore = total(model);
            const servingBefore = servingKept(model);
            const isScaled = model
              .sets()
              .some(
                ({ metadata }) =>
                  Number(metadata.annotations?.[annotationKeys.desiredReplicas]) !== model.deployment().spec.replicas,
              );
            if (oracle.left !== undefined && isComplete(model, oracle.left, false))
              oracle.proven = new Set([...oracle.proven, oracle.left]);
            if (kill === undefined) oracle.left = undefined;
            const isOver = isComplete(model, oracle.template, true) && isUnbound();
            model.decideDeployment(kill);
            if (isOver) oracle.proven = new Set([oracle.template, ...(kill === undefined ? [] : oracle.proven)]);
            noteTemplate();
            const replicas = model.deployment().spec.replicas ?? 0;
            const allowed = allowedBySteps(model, oracle.answered);
            for (const set of model.sets()) {
              const [size, had] = [set.spec.replicas ?? 0, before.get(set.metadata.name) ?? 0];
              if (size <= had || oracle.proven.has(classOf(set))) continue;
              expect(size, `${classOf(set)} of proven ${[...oracle.proven].join()}`).toBeLessThanOrEqual(
                classOf(set) === oracle.template ? allowed : had,
              );
            }
            expect(total(model)).toBeLessThanOrEqual(Math.max(totalBefore, replicas + surge));
            const served = isScaled ? 0 : Math.min(servingBefore, replicas - Math.min(replicas, unavailable));
            expect(servingKept(model)).toBeGreaterThanOrEqual(served);
            model.decideSets();
            advance(model, bits);
            // It may be noticed before the next event, or not.
            if (isComplete(model, oracle.template, false) && isUnbound())
              oracle.proven = new Set([...oracle.proven, oracle.template]);
          }
        }
        const nothing = { [canarySteps]: null, [maintenanceWindows]: null, [canaryOnFailure]: null, [onDelete]: null };
        model.change({ metadata: { annotations: nothing }, spec: { paused: false, rollbackTo: null } });
        settle(model);
        const { replicas = 0, template } = model.deployment().spec;
        expect(model.machines().map(classOf)).toEqual(Array(replicas).fill(template.spec.class?.name));
        expect(replicas > 0 && deploymentAnnotation(model, rollout) !== undefined).toBe(false);
      }),
      { numRuns: RUNS },
    );
  },
  RUNS * 1_000,
);

/** Some machines go on: those whose bit is set. */
function advance(model: RolloutModel, bits: number): void {
  for (const [index, machine] of model.machines().entries()) {
    if (((bits >> (index % 8)) & 1) === 0) continue;
    if (isDeleting(machine)) model.finishDeletion(machine);
    else if (phaseOf(machine) !== "Failed") model.setPhase(machine, "Running");
  }
}
