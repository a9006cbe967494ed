import { parseGoDuration } from "@millwright/base";
import {
  annotationKeys,
  type IntOrPercent,
  type MachineDeployment,
  readIntOrPercent,
  resolveFenceposts,
  rolloutHoldReasons,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { RolloutGates } from "../state/rollout-gates.ts";
import { availableSince } from "../../machine-lists/available-since.ts";
import type { Rollout } from "../../model/rollout.ts";
import { canaryFailureOf } from "../state/rollout.ts";
import { availableMachines, type SetView } from "../state/set-size.ts";

/** One step of a rollout: a number of machines of the new template, and the wait before the next step. */
export interface CanaryStep {
  readonly size: IntOrPercent;
  /** Milliseconds that these machines must have served, or until a user continues. */
  readonly wait: number | "pause";
}

/** The parsed steps, or what is wrong as a sentence. */
export type ReadStepsResult =
  | { readonly ok: true; readonly steps: readonly CanaryStep[] }
  | { readonly ok: false; readonly problem: string };

const MAX_TEXT = 1_000;
const MAX_STEPS = 50;
const EXAMPLE = "expected SIZE/WAIT, for example `10%/30m,50%/pause`";

function readStep(text: string): CanaryStep | undefined {
  const [size = "", wait, ...rest] = text.split("/").map((part) => part.trim());
  const machines = readIntOrPercent(size);
  const waitMs = wait === "pause" ? wait : parseGoDuration(wait ?? "");
  if (machines === undefined || waitMs === undefined || rest.length > 0) return undefined;
  if (Number.parseInt(size) === 0 || (waitMs !== "pause" && waitMs < 0)) return undefined;
  return { size: machines, wait: waitMs };
}

/** Reads the steps of a deployment; none without the annotation. */
export function readCanarySteps({ metadata }: MachineDeployment): ReadStepsResult {
  const text = metadata.annotations?.[annotationKeys.canarySteps];
  if (text === undefined) return { ok: true, steps: [] };
  if (text.length > MAX_TEXT) return { ok: false, problem: `is longer than ${MAX_TEXT} characters` };
  const parts = text.split(",");
  if (parts.length > MAX_STEPS) return { ok: false, problem: `has more than ${MAX_STEPS} steps` };
  const steps: CanaryStep[] = [];
  for (const part of parts) {
    const step = readStep(part);
    if (step === undefined) return { ok: false, problem: `\`${part.trim()}\` is not a step: ${EXAMPLE}` };
    const before = steps.at(-1);
    // Percentages and numbers cannot be compared without the size of the deployment.
    if (
      before !== undefined &&
      typeof before.size === typeof step.size &&
      Number.parseInt(String(before.size)) >= Number.parseInt(String(step.size))
    ) {
      return { ok: false, problem: `\`${part.trim()}\` is not greater than the step before it` };
    }
    steps.push(step);
  }
  return { ok: true, steps };
}

/** A user's request to end a pause. */
export interface CanaryContinue {
  /** The revision of the rollout: it does not apply to a later one of the same template. */
  readonly rollout: string;
  /** The last step that it completes, from 1. */
  readonly step: number;
}

/** Reads the request from the annotation; `undefined` without it, or when it cannot be parsed. */
export function readContinue({ metadata }: MachineDeployment): CanaryContinue | undefined {
  const text = metadata.annotations?.[annotationKeys.canaryContinue] ?? "";
  const [, rollout, step] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  return rollout === undefined ? undefined : { rollout, step: Number(step) };
}

/** Machines of a step: percentages are rounded up, so that the first step has one; never more than there are replicas. */
export const machinesOf = ({ size }: CanaryStep, replicas: number): number =>
  Math.min(replicas, resolveFenceposts({ replicas, maxSurge: size }).maxSurge);

/** The last step that a user continued in this rollout; 0 for none. */
function continuedAfter(deployment: MachineDeployment, { revision }: Rollout): number {
  const continued = readContinue(deployment);
  return continued?.rollout === String(revision) ? continued.step : 0;
}

/** What is wrong with an answer to a pause of another rollout, or that names a set. */
function strayAnswer(deployment: MachineDeployment, { revision }: Rollout): readonly string[] {
  const continued = readContinue(deployment);
  if (continued === undefined || continued.rollout === String(revision)) return [];
  const { rollout, step } = continued;
  return [
    `Annotation ${annotationKeys.canaryContinue}=${rollout}/${step} has no effect: it is about another rollout, this one has revision ${revision}`,
  ];
}

const newMachines = (count: number): string => (count === 1 ? "1 new machine" : `${count} new machines`);

/**
 * The gates of the steps. A step is complete while enough machines of the new set have served for its time, so a machine that fails in a later step does not restart it as long as others have served long enough.
 * That all steps are passed is recorded: then only a failure stops the rollout.
 */
export function canaryGates(
  deployment: MachineDeployment,
  steps: readonly CanaryStep[],
  newSet: SetView | undefined,
  rollout: Rollout,
  now: Date,
): RolloutGates {
  const replicas = deployment.spec.replicas ?? 0;
  if (replicas === 0) return { mayStart: true, maxNew: 0, steps: "ahead" };
  const failure = canaryFailureOf(newSet?.set);
  const isPassed = rollout.passed === deployment.metadata.annotations?.[annotationKeys.canarySteps];
  const stop = (
    maxNew: number,
    hold: string,
    reason: keyof typeof rolloutHoldReasons,
    requeueAt?: Date,
  ): RolloutGates => ({
    mayStart: true,
    maxNew,
    steps: isPassed ? "passed" : "ahead",
    holds: [hold],
    reason: rolloutHoldReasons[reason],
    ...(requeueAt === undefined ? {} : { requeueAt }),
  });
  if (newSet !== undefined && failure !== undefined) {
    const { name } = newSet.set.metadata;
    return stop(
      newSet.set.spec.replicas ?? 0,
      `Rollout is stopped because new machine ${failure} failed: change the template, or remove annotation ${annotationKeys.canaryFailed} from MachineSet ${name}`,
      "canaryFailed",
    );
  }
  if (isPassed) return { mayStart: true, steps: "passed" };
  const serving = newSet === undefined ? [] : availableMachines(newSet);
  const continued = continuedAfter(deployment, rollout);
  for (const [index, step] of steps.entries()) {
    const size = machinesOf(step, replicas);
    const number = index + 1;
    const where = `canary step ${number} of ${steps.length}`;
    const last = serving[size - 1];
    if (last === undefined) {
      const hold = `Rollout waits at ${where} until ${newMachines(size)} ${size === 1 ? "is" : "are"} available`;
      return { ...stop(size, hold, "canaryStep"), availabilityHolds: [hold] };
    }
    if (step.wait === "pause") {
      if (continued >= number) continue;
      const go = `${annotationKeys.canaryContinue}=${rollout.revision}/${number}`;
      const then = `to continue, annotate the MachineDeployment with ${go}`;
      const paused = stop(size, `Rollout is paused at ${where} with ${newMachines(size)}: ${then}`, "canaryPaused");
      return { ...paused, holds: [...(paused.holds ?? []), ...strayAnswer(deployment, rollout)] };
    }
    const until = new Date(availableSince(last) + step.wait);
    if (until > now)
      return stop(
        size,
        `Rollout waits at ${where} with ${newMachines(size)} until ${apiTime(until)}`,
        "canaryStep",
        until,
      );
  }
  return { mayStart: true, steps: "passed" };
}
