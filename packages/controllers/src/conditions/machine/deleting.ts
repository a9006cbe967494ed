import {
  clusterApiReasons as reasons,
  deletionStages,
  type DeletionStage,
  machineConditionTypes as types,
  stageOf,
} from "@millwright/core";
import { cutText, someNames } from "../message-lines.ts";
import { isDeleting } from "../../model/phase.ts";
import { type ConditionOf, type MachineFacts, said, timeOf } from "./facts.ts";

const MINUTE = 60_000;

/** A machine that takes longer to go than this is told of, milliseconds (Cluster API, `machinedeployment_status.go` setMachinesUpToDateCondition). */
export const slowDeletionMs = 15 * MINUTE;

/** A drain that takes longer than this is looked into for its causes, milliseconds. */
export const slowDrainMs = 5 * MINUTE;

const reasonOfStage: Readonly<Record<DeletionStage, string>> = {
  GetVmStatus: reasons.deleting,
  Drain: reasons.drainingNode,
  DeleteVolumeAttachments: reasons.waitingForVolumeDetach,
  DeleteVm: reasons.waitingForInfrastructureDeletion,
  DeleteNode: reasons.deletingNode,
  RemoveFinalizer: reasons.deletionCompleted,
};

/** What holds a drain up, by the sentence that the drain says then. */
const delays = [
  ["PodDisruptionBudgets", "cannot evict pod as it would violate the pod's disruption budget."],
  ["Pods not terminating", "deletionTimestamp set, but still not removed from the Node"],
  ["Pod eviction errors", "failed to evict Pod"],
  ["Pods not completed yet", "waiting for completion"],
] as const;

/** The stage of a deletion; the first one where the machine says none. */
export const stageOfDeletion = ({ machine }: MachineFacts): DeletionStage =>
  stageOf(machine.status?.lastOperation?.description) ?? "GetVmStatus";

const positionOf = (stage: DeletionStage): number => deletionStages.findIndex(({ name }) => name === stage);

/** Whether the deletion has left a stage behind. */
export const isPast = (facts: MachineFacts, stage: DeletionStage): boolean =>
  isDeleting(facts.machine) && positionOf(stageOfDeletion(facts)) > positionOf(stage);

const goingSince = ({ machine }: MachineFacts): string | undefined =>
  machine.metadata.deletionTimestamp ?? machine.status?.currentStatus?.lastUpdateTime ?? undefined;

/** Whether more than so many milliseconds have gone by since a time; a time that is not known is no reason. */
const isLonger = (since: string | undefined, ms: number, now: Date): boolean => {
  const start = timeOf(since);
  return start !== undefined && now.getTime() - start > ms;
};

/** Whether a machine has been going for so long that people should know (`scaling down` of its parents tells the same). */
export const isSlowToGo = (facts: MachineFacts, now: Date): boolean =>
  isDeleting(facts.machine) && isLonger(goingSince(facts), slowDeletionMs, now);

/** What holds the drain of a machine up, in the order in which messages list it; empty while the drain is young. The drain starts with the phase. */
export function drainDelays(facts: MachineFacts, now: Date): readonly string[] {
  const { lastOperation, currentStatus } = facts.machine.status ?? {};
  const description = lastOperation?.description ?? "";
  if (!isDeleting(facts.machine) || stageOfDeletion(facts) !== "Drain") return [];
  if (!isLonger(currentStatus?.lastUpdateTime ?? undefined, slowDrainMs, now)) return [];
  return delays.filter(([, sentence]) => description.includes(sentence)).map(([name]) => name);
}

/** Names, sorted, with the causes of their delay: the line about machines that are slow to go (Cluster API, `machinedeployment_status.go`). */
export function slowToGoText(machines: readonly MachineFacts[], now: Date): string | undefined {
  const slow = machines.filter((facts) => isSlowToGo(facts, now));
  if (slow.length === 0) return undefined;
  const causes = new Set(slow.flatMap((facts) => drainDelays(facts, now)));
  const listed = delays.map(([name]) => name).filter((name) => causes.has(name));
  const names = someNames(slow.map(({ machine }) => machine.metadata.name));
  const subject = slow.length === 1 ? `Machine ${names} is` : `Machines ${names} are`;
  return `${subject} in deletion since more than 15m${listed.length === 0 ? "" : `, delay likely due to ${listed.join(", ")}`}`;
}

/** True while the machine is being deleted; the reason is the stage. */
export const deleting: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return said(types.deleting, "False", reasons.notDeleting);
  const message = cutText(facts.machine.status?.lastOperation?.description ?? "Deletion started");
  return said(types.deleting, "True", reasonOfStage[stageOfDeletion(facts)], message, goingSince(facts));
};

/** What {@link deleting} says in the sum of a machine: few different texts, so that many machines share one. */
export function deletionProgress(facts: MachineFacts, now: Date): string {
  const causes = drainDelays(facts, now);
  return [
    "Machine deletion in progress",
    isSlowToGo(facts, now) ? " since more than 15m" : "",
    `, stage: ${reasonOfStage[stageOfDeletion(facts)]}`,
    causes.length === 0 ? "" : `, delay likely due to ${causes.join(", ")}`,
  ].join("");
}

/** Whether the pods have left the node of a machine that is being deleted. */
export const drained: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return said(types.drained, "False", reasons.notDeleting);
  if (isPast(facts, "Drain")) return said(types.drained, "True", reasons.drained);
  const message = cutText(facts.machine.status?.lastOperation?.description ?? "");
  return said(types.drained, "False", reasons.drainingNode, message, goingSince(facts));
};

/** Whether volumes have left the node of a machine that is being deleted. */
export const volumesDetached: ConditionOf = (facts) => {
  if (!isDeleting(facts.machine)) return said(types.volumesDetached, "False", reasons.notDeleting);
  if (isPast(facts, "DeleteVolumeAttachments")) return said(types.volumesDetached, "True", reasons.volumesDetached);
  const reason = isPast(facts, "Drain") ? reasons.waitingForVolumeDetach : reasons.drainingNode;
  return said(types.volumesDetached, "False", reason, "", goingSince(facts));
};
