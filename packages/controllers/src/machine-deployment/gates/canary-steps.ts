import {
  annotationKeys,
  type IntOrPercent,
  type MachineDeployment,
  parseGoDuration,
  readIntOrPercent,
  resolveFenceposts,
} from "@millwright/core";

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
  /** Name of the new MachineSet, so that it does not apply to a later rollout. */
  readonly set: string;
  /** The last step that it completes, from 1. */
  readonly step: number;
}

/** Reads the request from the annotation; `undefined` without it, or when it cannot be parsed. */
export function readContinue({ metadata }: MachineDeployment): CanaryContinue | undefined {
  const text = metadata.annotations?.[annotationKeys.canaryContinue] ?? "";
  const [, set, step] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  return set === undefined ? undefined : { set, step: Number(step) };
}

/** Machines of a step: percentages are rounded up, so that the first step has one; never more than there are replicas. */
export const machinesOf = ({ size }: CanaryStep, replicas: number): number =>
  Math.min(replicas, resolveFenceposts({ replicas, maxSurge: size }).maxSurge);
