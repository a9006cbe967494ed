import { annotationKeys, type MachineDeployment, type MachineSet } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { type CanaryStep, machinesOf, readContinue } from "./canary-steps.ts";
import type { RolloutGates } from "../state/rollout-gates.ts";
import { availableSince } from "../../machine-lists/available-since.ts";
import { availableMachines, type SetView } from "../state/set-size.ts";

/** The last step that a user continued in the rollout of this set; 0 for none. */
function continuedAfter(deployment: MachineDeployment, newSet: MachineSet | undefined): number {
  const continued = readContinue(deployment);
  return continued !== undefined && continued.set === newSet?.metadata.name ? continued.step : 0;
}

const newMachines = (count: number): string => (count === 1 ? "1 new machine" : `${count} new machines`);

/** The failure that stopped the rollout of a set's template. */
export const canaryFailureOf = (set: MachineSet | undefined): string | undefined =>
  set?.metadata.annotations?.[annotationKeys.canaryFailed];

/**
 * The gates of the steps. They are computed from the machines alone: a step is complete while enough machines of the new set have served for its time, so a
 * machine that fails in a later step does not restart it as long as others have served long enough.
 */
export function canaryGates(
  deployment: MachineDeployment,
  steps: readonly CanaryStep[],
  newSet: SetView | undefined,
  now: Date,
): RolloutGates {
  const replicas = deployment.spec.replicas ?? 0;
  const failure = canaryFailureOf(newSet?.set);
  const stop = (maxNew: number, hold: string, requeueAt?: Date): RolloutGates => ({
    mayStart: true,
    maxNew,
    holds: [hold],
    ...(requeueAt === undefined ? {} : { requeueAt }),
  });
  if (newSet !== undefined && failure !== undefined) {
    const { name } = newSet.set.metadata;
    return stop(
      newSet.set.spec.replicas ?? 0,
      `Rollout is stopped because new machine ${failure} failed: change the template, or remove annotation ${annotationKeys.canaryFailed} from MachineSet ${name}`,
    );
  }
  const serving = newSet === undefined ? [] : availableMachines(newSet);
  const continued = continuedAfter(deployment, newSet?.set);
  for (const [index, step] of steps.entries()) {
    const size = machinesOf(step, replicas);
    const number = index + 1;
    const where = `canary step ${number} of ${steps.length}`;
    const last = serving[size - 1];
    if (size === 0) continue;
    if (last === undefined)
      return stop(size, `Rollout waits at ${where} until ${newMachines(size)} ${size === 1 ? "is" : "are"} available`);
    if (step.wait === "pause") {
      if (continued >= number) continue;
      const go = `${annotationKeys.canaryContinue}=${newSet?.set.metadata.name ?? ""}/${number}`;
      const then = `to continue, annotate the MachineDeployment with ${go}`;
      return stop(size, `Rollout is paused at ${where} with ${newMachines(size)}: ${then}`);
    }
    const until = new Date(availableSince(last) + step.wait);
    if (until > now)
      return stop(size, `Rollout waits at ${where} with ${newMachines(size)} until ${apiTime(until)}`, until);
  }
  return { mayStart: true };
}
