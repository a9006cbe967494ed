import { clusterApiConditionTypes, clusterApiReasons as reasons } from "@millwright/core/machine-api";
import { slowDeletionText } from "../machine/deleting.ts";
import { type ConditionState, cutMessage } from "@millwright/kube";
import type { JudgedMachine } from "./judged-machine.ts";
import type { Scale } from "./scaling-up.ts";

const type = clusterApiConditionTypes.scalingDown;

/** A line about slow deletions, or nothing. */
export function slowLine(machines: readonly JudgedMachine[], now: Date): string {
  const slow = slowDeletionText(
    machines.map(({ facts }) => facts),
    now,
  );
  return slow === undefined ? "" : `\n* ${slow}`;
}

/**
 * Whether there are more machines than there should be, as during every rollout with a surge (Cluster API, `machinedeployment_status.go`).
 *
 * @param blocks what prevents the deletion of machines, a clause each
 */
export function scalingDown(
  { current, desired }: Scale,
  machines: readonly JudgedMachine[],
  blocks: readonly string[],
  now: Date,
): ConditionState {
  if (current <= desired) return { type, status: "False", reason: reasons.notScalingDown, message: "" };
  const message = `Scaling down from ${current} to ${desired} replicas${slowLine(machines, now)}`;
  const blocked = blocks.map((block) => `\n* ${block}`).join("");
  return { type, status: "True", reason: reasons.scalingDown, message: cutMessage(message + blocked) };
}
