import type { MatchedNode } from "../../model/node-match.ts";
import type { ClassView } from "../../cluster/class-view.ts";
import type { MachineSettings } from "../../model/machine-settings.ts";
import type { FieldProblem, Machine, NodeMatch } from "@millwright/core";
import type { Node, Pod, VolumeAttachment } from "../../model/node-objects.ts";
import type { CrdState } from "../../model/crd-state.ts";
import type { DrainView } from "../../drain/drain-view.ts";
import type { NodeHistory } from "../../remediation/node-history.ts";
import type { RemediationView } from "../../remediation/remediation-view.ts";
import type { OperationView } from "../../model/operation.ts";
import type { ReportedProblems } from "./reported-problems.ts";

/** What a pass over a Machine sees. */
export interface MachineSnapshot {
  readonly machine: Machine;
  /** Whether the object has the shape of a machine; of one that has not, nothing but the metadata is known. */
  readonly isReadable: boolean;
  /** What is wrong with the machine's own spec. */
  readonly problems: readonly FieldProblem[];
  /** The CRD because of which alone the machine is terminating; its deletion is not carried out. Default: none. */
  readonly pausedBy?: CrdState | undefined;
  readonly classView: ClassView;
  /** Changes whenever the class or one of its secrets does: a failed driver call is worth another try then. */
  readonly inputs: string;
  /** Whether there is a cluster that machines join as nodes. */
  readonly hasTarget: boolean;
  readonly node: Node | undefined;
  /** `same` where ids prove that the node is the machine's; `unknown` where only names link them, or there is none. */
  readonly nodeMatch: NodeMatch;
  /** Names of other machines that have a better claim to the node, sorted; none as a rule. */
  readonly competingMachines: readonly string[];
  /** The node that the machine names in its label, where it certainly belongs to another VM. */
  readonly foreignNode: Node | undefined;
  /** What the node of an unhealthy machine has been through lately. */
  readonly history: NodeHistory;
  /** What may hold back the replacement of an unhealthy machine. */
  readonly remediation: RemediationView;
  /** The node of the name that the driver's last reply gives to the VM, whichever VM it belongs to. */
  readonly sameNameNode: MatchedNode | undefined;
  /** The user data asks for a bootstrap token; only looked at while there is no VM. */
  readonly wantsToken: boolean;
  /** What the drain of the node looks at; only read while it is being emptied, for whatever reason. */
  readonly drain: DrainView | undefined;
  /** Why the rules of that drain are ignored, as one sentence. */
  readonly drainRulesProblem: string | undefined;
  /** Pods on the node; only read while the machine is being deleted. */
  readonly pods: readonly Pod[];
  /** VolumeAttachments of the node; only read while the machine is being deleted. */
  readonly attachments: readonly VolumeAttachment[];
  /** The lasting problems that this process told as events: a state is told once, not in every pass. */
  readonly reported: ReportedProblems;
  /** The driver call that runs for the machine, or ended and has not been dealt with. */
  readonly operation: OperationView | undefined;
  readonly settings: MachineSettings;
}
