import { finalizers, phaseOf } from "@millwright/core/machine-api";
import type { Hold } from "../../model/hold.ts";
import { needsCreation } from "../../model/provisioning.ts";
import { statusOf } from "../../model/status-change.ts";
import { decideCreation } from "../creation/decide-creation.ts";
import { beforeStages, decideDeletion } from "../deletion/decide-deletion.ts";
import { interruptedDeletion } from "../deletion/interrupted.ts";
import { skipNodeDeletion } from "../deletion/lost-target.ts";
import { isBeforeVm } from "../drain/draining.ts";
import { decideTimeouts } from "../health/decide-timeouts.ts";
import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Completes a creation. One that takes too long does not fail: the node may have joined. */
function decideProvisioning(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const decision = decideCreation(snapshot, now);
  return decision.status !== undefined && phaseOf({ status: decision.status }) === "Failed" ? nothing : decision;
}

/** What to do about a cluster that does not come back. */
const goneForGood = "; if it is gone for good, run with --target-kubeconfig=none";

/** Keeps the stage of the deletion until the Nodes and pods are listed. What was reported after the drain is kept: a drain that was skipped is made up for when the node recovers. */
const waitForLists = (snapshot: MachineSnapshot, { message }: Hold, now: Date): MachineDecision =>
  isBeforeVm(snapshot.machine) ? interruptedDeletion(snapshot, nothing, `${message}${goneForGood}`, now) : nothing;

/** A deletion whose VM is gone goes on without the Node when a user forces it. */
const decideTerminating = (snapshot: MachineSnapshot, hold: Hold, now: Date): MachineDecision =>
  skipNodeDeletion(snapshot) === undefined
    ? (beforeStages(snapshot) ?? waitForLists(snapshot, hold, now))
    : decideDeletion(snapshot, now);

/**
 * Decides about a machine that has a VM while the Nodes and pods of the target cluster were never listed: the process started while its API server was unreachable. Nothing is concluded from a missing
 * node. Timeouts wait, as during each outage, and so does the deletion before any of its stages. The first lists enqueue the machine.
 */
export function decideUnreadTarget(snapshot: MachineSnapshot, hold: Hold, now: Date): MachineDecision {
  const { machine, remediation } = snapshot;
  if (machine.metadata.finalizers?.includes(finalizers.machine) !== true) return nothing;
  if (machine.metadata.deletionTimestamp != null) return decideTerminating(snapshot, hold, now);
  if (needsCreation(snapshot)) return decideProvisioning(snapshot, now);
  const connectivity = { ...remediation.connectivity, isLost: true };
  const unknown = { ...snapshot, remediation: { ...remediation, connectivity } };
  return decideTimeouts(unknown, statusOf(machine), ["the node is not known"], now);
}
