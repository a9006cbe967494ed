import { eventReasons, eventsText, type MachineStatus } from "@millwright/core/machine-api";
import { drainRecordPatch } from "../drain/drain-record.ts";
import { statusAt } from "../machine/deletion/decide-deletion.ts";
import { drain } from "../machine/deletion/drain.ts";
import { deleteNode, deleteVolumeAttachments, type StageResult } from "../machine/deletion/stages.ts";
import type { MachineAction } from "../machine/state/decision.ts";
import type { MachineSnapshot } from "../machine/state/snapshot.ts";
import type { Decision } from "../model/decision.ts";
import type { Node } from "../model/node-objects.ts";
import type { OrphanVm } from "./nodes-of-vm.ts";

/** What follows. The status is that of the drain, and kept in memory. */
export interface OrphanNodeDecision extends Decision<MachineAction, MachineStatus> {
  /** The drain has ended: the VM may be deleted. */
  readonly isDrained?: true;
  /** The drain is not carried out any more: what was requested of pods is withdrawn. Default: false. */
  readonly stops?: true;
}

/** What a Machine would store of its drain is stored on the Node. The condition of the Node is about a Machine, and lists of VMs show whether there is a VM. */
const onNode = (actions: readonly MachineAction[], name: string): readonly MachineAction[] =>
  actions.flatMap((action): readonly MachineAction[] => {
    if (action.kind === "PatchNodeStatus" || action.kind === "StartOperation") return [];
    if (action.kind === "RecordDrain") return [{ kind: "PatchNode", name, patch: drainRecordPatch(action.record) }];
    return action.kind === "PatchMachine" ? [{ kind: "PatchNode", name, patch: action.patch }] : [action];
  });

/** One step of the drain: the stages of a Machine that is being deleted, up to its VM. */
export function drainStep(leaving: MachineSnapshot, node: Node, vm: OrphanVm, now: Date): OrphanNodeDecision {
  const { name } = node.metadata;
  const result: StageResult = drain(leaving, now);
  if (result.next === "deleted") return { actions: [], because: [] };
  const { actions = [], because = [] } = result;
  if (result.next === "stay") {
    const { happened, requeueAfterMs } = result;
    return {
      actions: onNode(actions, name),
      because,
      status: statusAt(leaving, "Drain", happened, "Processing", now),
      ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
    };
  }
  const detached =
    result.next === "DeleteVolumeAttachments" ? (deleteVolumeAttachments(leaving, now).actions ?? []) : [];
  const how = result.happened !== undefined ? `: ${eventsText(result.happened)}` : "";
  const message = `The drain of Node ${name} of VM ${vm.providerId} has ended${how}`;
  return {
    actions: onNode([...actions, ...detached], name),
    because: [...because, { type: "Normal", reason: eventReasons.orphanVmDrained, message }],
    isDrained: true,
  };
}

/** Deletes the Node of a VM that was deleted, as that of a Machine: when Kubernetes has released its pods and volumes. */
export function deletionStep(leaving: MachineSnapshot, name: string, now: Date): OrphanNodeDecision {
  const result = deleteNode(leaving, now);
  const requeueAfterMs = result.next === "stay" ? result.requeueAfterMs : undefined;
  return {
    actions: onNode(result.actions ?? [], name),
    because: [],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}
