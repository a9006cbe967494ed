import {
  clusterApiReasons as reasons,
  deletionStages,
  type DeletionStage,
  type DrainCause,
  drainResult,
  machineConditionTypes as types,
  readOperation,
  storedMachineConditionTypes,
} from "@millwright/core/machine-api";
import { cutText, shortenNames } from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";
import { type ConditionOf, type MachineFacts, newCondition, timeOf } from "./facts.ts";

const MINUTE = 60_000;

/** Deletions that take longer than this are reported, milliseconds (Cluster API, `machinedeployment_status.go` setMachinesUpToDateCondition). */
export const slowDeletionMs = 15 * MINUTE;

/** The causes of drains that take longer than this are reported, milliseconds. */
export const slowDrainMs = 5 * MINUTE;

const reasonOfStage: Readonly<Record<DeletionStage, string>> = {
  GetVmStatus: reasons.deleting,
  Drain: reasons.drainingNode,
  DeleteVolumeAttachments: reasons.waitingForVolumeDetach,
  DeleteVm: reasons.waitingForInfrastructureDeletion,
  DeleteNode: reasons.deletingNode,
  RemoveFinalizer: reasons.deletionCompleted,
};

/** Causes of a slow drain, in the words of Cluster API, by those that the drain reports. */
const delays: readonly (readonly [name: string, reported: readonly DrainCause["reason"][]])[] = [
  ["PodDisruptionBudgets", ["DisruptionBudget"]],
  ["Pods not terminating", ["PodsTerminating", "PodsOverdue"]],
  ["Pod eviction errors", ["EvictionFailed"]],
  ["Pods not completed yet", ["PodsNotCompleted"]],
];

/** The stage of a deletion; the first one when the machine has none. */
export const stageOfDeletion = ({ machine }: MachineFacts): DeletionStage =>
  readOperation(machine.status).stage ?? "GetVmStatus";

const positionOf = (stage: DeletionStage): number => deletionStages.findIndex(({ name }) => name === stage);

/** Whether the deletion has completed a stage. */
export const isPast = (facts: MachineFacts, stage: DeletionStage): boolean =>
  isDeleting(facts.machine) && positionOf(stageOfDeletion(facts)) > positionOf(stage);

const goingSince = ({ machine }: MachineFacts): string | undefined =>
  machine.metadata.deletionTimestamp ?? machine.status?.currentStatus?.lastUpdateTime ?? undefined;

/** Whether more than so many milliseconds have passed since a time; `false` for an unknown time. */
const isLonger = (since: string | undefined, ms: number, now: Date): boolean => {
  const start = timeOf(since);
  return start !== undefined && now.getTime() - start > ms;
};

/** Whether the deletion of a machine is slow, as reported in `ScalingDown` of its owners. */
export const isDeletionSlow = (facts: MachineFacts, now: Date): boolean =>
  isDeleting(facts.machine) && isLonger(goingSince(facts), slowDeletionMs, now);

/** What blocks the drain of a machine, in the order of messages; empty in the first minutes. The drain starts with the phase. */
export function drainDelays(facts: MachineFacts, now: Date): readonly string[] {
  const { currentStatus } = facts.machine.status ?? {};
  const { causes = [] } = readOperation(facts.machine.status);
  if (!isDeleting(facts.machine) || stageOfDeletion(facts) !== "Drain") return [];
  if (!isLonger(currentStatus?.lastUpdateTime ?? undefined, slowDrainMs, now)) return [];
  return delays.filter(([, reported]) => causes.some(({ reason }) => reported.includes(reason))).map(([name]) => name);
}

/** The line about slow deletions: sorted names with the causes of the delay (Cluster API, `machinedeployment_status.go`). */
export function slowDeletionText(machines: readonly MachineFacts[], now: Date): string | undefined {
  const slow = machines.filter((facts) => isDeletionSlow(facts, now));
  if (slow.length === 0) return undefined;
  const causes = new Set(slow.flatMap((facts) => drainDelays(facts, now)));
  const listed = delays.map(([name]) => name).filter((name) => causes.has(name));
  const names = shortenNames(slow.map(({ machine }) => machine.metadata.name));
  const subject = slow.length === 1 ? `Machine ${names} is` : `Machines ${names} are`;
  return `${subject} in deletion since more than 15m${listed.length === 0 ? "" : `, delay likely due to ${listed.join(", ")}`}`;
}

/** True while the machine is being deleted; the reason is the stage. */
export const deleting: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return newCondition(types.deleting, "False", reasons.notDeleting);
  const message = cutText(facts.machine.status?.lastOperation?.description ?? "Deletion started");
  return newCondition(types.deleting, "True", reasonOfStage[stageOfDeletion(facts)], message, goingSince(facts));
};

/** True while a person has to act before the deletion goes on; absent otherwise. */
export const stalled: ConditionOf = (facts) => {
  const { deletionHold } = readOperation(facts.machine.status);
  if (!isDeleting(facts.machine) || deletionHold === undefined) return undefined;
  const message = cutText(facts.machine.status?.lastOperation?.description ?? "");
  return newCondition(storedMachineConditionTypes.stalled, "True", deletionHold, message, goingSince(facts));
};

/** The message of {@link deleting} in Ready of a machine: few different texts, so that many machines share one. */
export function deletionProgress(facts: MachineFacts, now: Date): string {
  const causes = drainDelays(facts, now);
  return [
    "Machine deletion in progress",
    isDeletionSlow(facts, now) ? " since more than 15m" : "",
    `, stage: ${reasonOfStage[stageOfDeletion(facts)]}`,
    causes.length === 0 ? "" : `, delay likely due to ${causes.join(", ")}`,
  ].join("");
}

/** Whether the pods have left the node of a machine that is being deleted. */
export const drained: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return newCondition(types.drained, "False", reasons.notDeleting);
  if (isPast(facts, "Drain")) return newCondition(types.drained, "True", reasons.drained);
  const message = cutText(facts.machine.status?.lastOperation?.description ?? "");
  return newCondition(types.drained, "False", reasons.drainingNode, message, goingSince(facts));
};

/** Whether volumes have left the node of a machine that is being deleted. */
export const volumesDetached: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return newCondition(types.volumesDetached, "False", reasons.notDeleting);
  const operation = readOperation(facts.machine.status);
  if (operation.reason === "VolumesAttached") {
    const message = cutText(drainResult(operation) ?? "");
    return newCondition(types.volumesDetached, "False", reasons.waitingForVolumeDetach, message, goingSince(facts));
  }
  if (isPast(facts, "DeleteVolumeAttachments"))
    return newCondition(types.volumesDetached, "True", reasons.volumesDetached);
  const reason = isPast(facts, "Drain") ? reasons.waitingForVolumeDetach : reasons.drainingNode;
  return newCondition(types.volumesDetached, "False", reason, "", goingSince(facts));
};
