import { clusterApiReasons as reasons, machineConditionTypes as types } from "@millwright/core/machine-api";
import type { DerivedCondition } from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";
import { healthTimeoutMs } from "../../model/timeouts.ts";
import { conflict, infrastructureReady, severalNodes } from "./infrastructure-ready.ts";
import { deleting, drained, slowDeletionMs, slowDrainMs, volumesDetached } from "./deleting.ts";
import { type ConditionOf, type MachineFacts, phaseSince, newCondition, timeOf } from "./facts.ts";
import { nodeHealthy, nodeReady } from "./node-conditions.ts";
import { available, ready, untilAvailableMs } from "./ready.ts";
import { healthCheckSucceeded, ownerRemediated } from "./remediation.ts";
import { updating, upToDate } from "./updating.ts";

/** A machine cannot be paused, only its deployment. */
const paused: ConditionOf = () => newCondition(types.paused, "False", reasons.notPaused);

/** All conditions, in the order in which they are shown. */
const all: readonly ConditionOf[] = [
  available,
  ready,
  upToDate,
  conflict,
  severalNodes,
  infrastructureReady,
  nodeHealthy,
  nodeReady,
  healthCheckSucceeded,
  ownerRemediated,
  updating,
  drained,
  volumesDetached,
  paused,
  deleting,
];

/**
 * The conditions of a machine in Cluster API's sense (Cluster API, `machine_controller_status.go`), for users and for the aggregates of its owners. They are not
 * stored: `Machine.status.conditions` is a copy of the node's, where `Ready` is the kubelet's.
 */
export const machineConditions = (facts: MachineFacts, now: Date): readonly DerivedCondition[] =>
  all.map((condition) => condition(facts, now)).filter((condition) => condition !== undefined);

const soonest = (times: readonly number[]): number | undefined => {
  const next = Math.min(...times.filter((ms) => ms > 0));
  return Number.isFinite(next) ? next : undefined;
};

/**
 * Milliseconds until time alone changes what the owners of a machine report of it: a deletion or drain becomes slow, an unhealthy machine overdue, a
 * preservation ends. `undefined` when only a change of an object can.
 */
export function msUntilIssuesChange(facts: MachineFacts, now: Date): number | undefined {
  const { machine } = facts;
  const after = (since: string | null | undefined, ms: number): number =>
    (timeOf(since) ?? Number.NaN) + ms + 1 - now.getTime();
  if (isDeleting(machine)) {
    return soonest([after(machine.metadata.deletionTimestamp, slowDeletionMs), after(phaseSince(facts), slowDrainMs)]);
  }
  const { phase, preserveExpiryTime } = machine.status?.currentStatus ?? {};
  return soonest([
    phase === "Unknown" ? after(phaseSince(facts), healthTimeoutMs(facts)) : 0,
    phase === "Failed" ? after(preserveExpiryTime, 0) : 0,
  ]);
}

/** Milliseconds until time alone changes a condition: as {@link msUntilIssuesChange}, or a ready machine becomes available. */
export const untilConditionsChange = (facts: MachineFacts, now: Date): number | undefined =>
  soonest([
    msUntilIssuesChange(facts, now) ?? 0,
    !isDeleting(facts.machine) && ready(facts, now)?.status === "True" ? untilAvailableMs(facts, now) : 0,
  ]);
