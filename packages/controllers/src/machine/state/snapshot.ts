import type { MatchedNode } from "../../model/pick-node.ts";
import type { ClassView } from "../../cluster/class-view.ts";
import type { MachineSettings } from "../../model/machine-settings.ts";
import type { NodeMatch } from "@millwright/core";
import type { FieldProblem, Machine } from "@millwright/core/machine-api";
import type { Node, Pod, VolumeAttachment } from "../../model/node-objects.ts";
import type { Hold } from "../../model/hold.ts";
import type { DrainView } from "../../drain/drain-view.ts";
import type { ListDoubt } from "../../model/list-doubt.ts";
import type { VmHolder } from "../../model/vm-holder.ts";
import type { NodeHistory } from "../../remediation/node-history.ts";
import type { ObservedSince } from "../../model/timeouts.ts";
import type { RemediationView } from "../../remediation/remediation-view.ts";
import type { OperationView } from "../../model/operation.ts";
import type { RestoredTaints } from "./restored-taints.ts";
import type { ReportedProblems } from "./reported-problems.ts";

/** How the machine and the nodes of its name and VM belong together. */
export interface NodeLink {
  /** `same` when ids prove that the node is the machine's; `unknown` when only names link them, or there is none. */
  readonly match: NodeMatch;
  /** Names of other machines that take precedence for the node, sorted; usually none. */
  readonly competingMachines: readonly string[];
  /** The node that the machine names in its label, when it is not its own; of a terminating machine also any other node that belongs to another machine. */
  readonly foreignNode: Node | undefined;
  /** By how much the clock of the API server of the nodes is ahead of that of the machines, milliseconds. */
  readonly clockAheadMs: number;
  /** The Node of a terminating machine, or the one that it names, when it was not read from the API server just now. */
  readonly unreadNode: string | undefined;
  /** The node with the name in the driver's last result, whichever VM it belongs to. */
  readonly sameNameNode: MatchedNode | undefined;
}

/** What is known about the node of a machine, and not from the objects. */
export interface NodeSyncInputs {
  /** Whether it has just joined during a rollout, so that its first patch also keeps the cluster-autoscaler from it. Default: false. */
  readonly isKeptFromScaler?: boolean;
  /** Whether it has just joined in a pool that a cluster autoscaler scales. Default: false. */
  readonly isAutoscaled?: boolean;
  /** Taints of the template that were put back after another client removed them. Default: none. */
  readonly restoredTaints?: RestoredTaints;
}

/** A node, and what uses it. */
export interface UsedNode extends Pick<MachineSnapshot, "pods" | "attachments"> {
  readonly node: Node;
}

/** What a reconcile of a Machine sees. */
export interface MachineSnapshot {
  readonly machine: Machine;
  /** Whether the object has the shape of a machine; otherwise only its metadata is known. */
  readonly isReadable: boolean;
  /** Problems of the machine's own spec. */
  readonly problems: readonly FieldProblem[];
  /** Why the machine is not acted on: of the first guard that holds it. Default: none does. */
  readonly hold?: Hold | undefined;
  readonly classView: ClassView;
  /** Changes with the class and its secrets: then a failed driver call is retried at once. */
  readonly inputs: string;
  /** Whether there is a target cluster that machines join as nodes. */
  readonly hasTarget: boolean;
  /** Whether the API server of a target cluster of its own has been unreachable for longer than the status-check timeout; only read while the machine is being deleted. Default: false. */
  readonly isTargetLost?: boolean;
  readonly node: Node | undefined;
  /** Further nodes that are proven to be the VM's, such as after a change of its host name. `node` is the one that counts. Default: none. */
  readonly otherNodes?: readonly UsedNode[];
  readonly link: NodeLink;
  /** Since when this process observes the machine and its phase. Absent: not observed; the times in the object count. */
  readonly observed?: ObservedSince | undefined;
  /** Recent health of the node of an unhealthy machine. */
  readonly history: NodeHistory;
  /** What may prevent the remediation of an unhealthy machine. */
  readonly remediation: RemediationView;
  /** The other Machine to which the VM belongs that this machine names, or with which its driver answered; usually none. Then the machine has no node. */
  readonly holder?: VmHolder | undefined;
  /** Lists and the driver show that the VM does not exist, whatever its node reports. Default: false. */
  readonly isVmMissing?: boolean;
  /** What the lists of the VMs of its class show of the answers of the driver. Absent: nothing is in doubt. */
  readonly listDoubt?: ListDoubt | undefined;
  /** What the synchronization of the node needs besides the objects. Default: nothing. */
  readonly nodeSync?: NodeSyncInputs;
  /** Whether the user data contains the placeholder of a bootstrap token; only checked while there is no VM. */
  readonly wantsToken: boolean;
  /** Inputs of the drain of the node; only read while it is being drained, for whatever reason. */
  readonly drain: DrainView | undefined;
  /** Since when this process has followed the drain, without a pause, wall clock in milliseconds; `undefined` when it has just begun. */
  readonly drainObservedSince: number | undefined;
  /** Why the drain rules are ignored, as one sentence. */
  readonly drainRulesProblem: string | undefined;
  /** Pods on the node; only read while the machine is being deleted. */
  readonly pods: readonly Pod[];
  /** VolumeAttachments of the node; only read while the machine is being deleted. */
  readonly attachments: readonly VolumeAttachment[];
  /** The lasting problems that this process reported as events: each is reported once. */
  readonly reported: ReportedProblems;
  /** The driver call of the machine that runs, or whose outcome is not recorded yet. */
  readonly operation: OperationView | undefined;
  readonly settings: MachineSettings;
}
