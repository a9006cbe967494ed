import type { FieldProblem, Machine, MachineClass } from "@millwright/core";
import type { Node, Pod, VolumeAttachment } from "../cluster/node-objects.ts";
import type { OperationView } from "./operation.ts";

/** Times and lists that a machine may override in its spec. */
export interface MachineSettings {
  /** From creation of the object to a joined node, milliseconds. */
  readonly creationTimeoutMs: number;
  /** From the deletion timestamp until a drain is forced, milliseconds. */
  readonly drainTimeoutMs: number;
  /** Node conditions that make a machine unhealthy unless they are False. */
  readonly nodeConditions: readonly string[];
}

/** MCM's defaults (machine-controller.md, 4.3 and 2.7). */
export const defaultMachineSettings: MachineSettings = {
  creationTimeoutMs: 20 * 60_000,
  drainTimeoutMs: 2 * 3_600_000,
  nodeConditions: ["KernelDeadlock", "ReadonlyFilesystem", "DiskPressure", "NetworkUnavailable"],
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

/** What a pass over a Machine sees. */
export interface MachineSnapshot {
  readonly machine: Machine;
  /** Whether the object has the shape of a machine; of one that has not, nothing but the metadata is known. */
  readonly isReadable: boolean;
  /** What is wrong with the machine's own spec. */
  readonly problems: readonly FieldProblem[];
  readonly classView: ClassView;
  /** Changes whenever the class or one of its secrets does: a failed driver call is worth another try then. */
  readonly inputs: string;
  /** Whether there is a cluster that machines join as nodes. */
  readonly hasTarget: boolean;
  readonly node: Node | undefined;
  /** Pods on the node; only read while the machine is being deleted. */
  readonly pods: readonly Pod[];
  /** VolumeAttachments of the node; only read while the machine is being deleted. */
  readonly attachments: readonly VolumeAttachment[];
  /** The driver call that runs for the machine, or ended and has not been dealt with. */
  readonly operation: OperationView | undefined;
  readonly settings: MachineSettings;
}
