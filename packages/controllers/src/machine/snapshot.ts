import {
  defaultNodeConditions,
  type FieldProblem,
  type IntOrPercent,
  type Machine,
  type MachineClass,
  type NodeMatch,
} from "@millwright/core";
import type { Node, Pod, VolumeAttachment } from "../cluster/node-objects.ts";
import type { DefinitionState } from "../definitions/definition-state.ts";
import type { DrainView } from "../drain/drain-view.ts";
import type { FlapRule, NodeHistory } from "./health/flapping.ts";
import type { OutageRule } from "./health/outage.ts";
import type { RepairView } from "./health/repair-view.ts";
import type { OperationView } from "./operations/operation.ts";
import type { ToldProblems } from "./told.ts";

/** Times and lists that a machine may override in its spec. */
export interface MachineSettings extends OutageRule, FlapRule {
  /** From creation of the object to a joined node, milliseconds. */
  readonly creationTimeoutMs: number;
  /** From a node that is missing or unhealthy to phase Failed, milliseconds. */
  readonly healthTimeoutMs: number;
  /** How many unhealthy machines of a deployment may be replaced at once, where its annotation says nothing else. */
  readonly maxReplacements: IntOrPercent;
  /** An API server that has not answered for longer is taken for unreachable, milliseconds: nothing is replaced, and timeouts of nodes start anew afterwards. */
  readonly contactLostAfterMs: number;
  /** From the deletion timestamp until a drain is forced, milliseconds. */
  readonly drainTimeoutMs: number;
  /** How often MCM asks for an eviction, once in 20 s; for as long budgets are respected. */
  readonly maxEvictRetries: number;
  /** From the end of a pod's grace period until its volumes have left the node, milliseconds. */
  readonly pvDetachTimeoutMs: number;
  /** From then until they are attached where the pod is wanted, milliseconds; 0: not waited for. */
  readonly pvReattachTimeoutMs: number;
  /** From a drained node to the report of the agent on it, milliseconds. */
  readonly inPlaceUpdateTimeoutMs: number;
  /** From the start of a preservation to its end, milliseconds. */
  readonly preserveTimeoutMs: number;
  /** Longest time between two tries after ResourceExhausted, milliseconds. */
  readonly resourceExhaustedRetryMs: number;
  /** How many machines that ask for the same (class, instance type, zone, annotations of the node) are made at once. */
  readonly creationsPerClass: number;
  /** How many machines are made at once, all classes together. */
  readonly creationsInAll: number;
  /** Groups that bootstrap tokens give a node besides `system:bootstrappers`, separated by commas. */
  readonly bootstrapTokenExtraGroups: string;
  /** Node conditions that make a machine unhealthy unless they are False. */
  readonly nodeConditions: readonly string[];
}

/** MCM's defaults (MCM, `pkg/util/provider/machinecontroller/machine_util.go` getEffectiveCreationTimeout; MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy); it has none for how many machines are made at once but its 50 workers. */
export const defaultMachineSettings: MachineSettings = {
  creationTimeoutMs: 20 * 60_000,
  healthTimeoutMs: 10 * 60_000,
  maxReplacements: 1,
  contactLostAfterMs: 30_000,
  outageShare: 0.3,
  outageMinimum: 3,
  outageWindowMs: 3_600_000,
  flapWindowMs: 3_600_000,
  settleMs: 30_000,
  maxSettleMs: 10 * 60_000,
  drainTimeoutMs: 2 * 3_600_000,
  maxEvictRetries: 360,
  pvDetachTimeoutMs: 2 * 60_000,
  pvReattachTimeoutMs: 90_000,
  inPlaceUpdateTimeoutMs: 20 * 60_000,
  preserveTimeoutMs: 96 * 3_600_000,
  resourceExhaustedRetryMs: 10 * 60_000,
  creationsPerClass: 20,
  creationsInAll: 100,
  bootstrapTokenExtraGroups: "",
  nodeConditions: defaultNodeConditions,
};

/** Why machines of a class cannot be made. */
export interface ClassProblem {
  /** Stable word in CamelCase. */
  readonly reason: string;
  /** One sentence that names object, field and what is expected. */
  readonly problem: string;
}

/** The class of a machine as far as it could be read. */
export type ClassView =
  | {
      readonly state: "usable";
      readonly machineClass: MachineClass;
      /** What keeps new machines from booting; existing ones can be looked after and deleted all the same. */
      readonly obstacle?: ClassProblem;
    }
  | ({ readonly state: "unusable"; readonly isMissing: boolean } & ClassProblem);

/** A node, and whether it is that of the VM in question. */
export interface MatchedNode {
  readonly node: Node;
  readonly match: NodeMatch;
}

/** What a pass over a Machine sees. */
export interface MachineSnapshot {
  readonly machine: Machine;
  /** Whether the object has the shape of a machine; of one that has not, nothing but the metadata is known. */
  readonly isReadable: boolean;
  /** What is wrong with the machine's own spec. */
  readonly problems: readonly FieldProblem[];
  /** The definition because of which alone the machine is on its way out; its deletion is not carried out. Default: none. */
  readonly heldBy?: DefinitionState | undefined;
  readonly classView: ClassView;
  /** Changes whenever the class or one of its secrets does: a failed driver call is worth another try then. */
  readonly inputs: string;
  /** Whether there is a cluster that machines join as nodes. */
  readonly hasTarget: boolean;
  readonly node: Node | undefined;
  /** `same` where ids prove that the node is the machine's; `unknown` where only names link them, or there is none. */
  readonly nodeMatch: NodeMatch;
  /** Names of other machines that have a better claim to the node, sorted; none as a rule. */
  readonly betterClaims: readonly string[];
  /** The node that the machine names in its label, where it certainly belongs to another VM. */
  readonly foreignNode: Node | undefined;
  /** What the node of an unhealthy machine has been through lately. */
  readonly history: NodeHistory;
  /** What may hold back the replacement of an unhealthy machine. */
  readonly repair: RepairView;
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
  readonly told: ToldProblems;
  /** The driver call that runs for the machine, or ended and has not been dealt with. */
  readonly operation: OperationView | undefined;
  readonly settings: MachineSettings;
}
