import type {
  ConditionStatus,
  Machine,
  MachineDeployment,
  MachineSet,
  NodeCondition,
} from "@millwright/core/machine-api";
import { isNodeConditionType, labelKeys, phaseOf, readOperation } from "@millwright/core/machine-api";
import type { DerivedCondition } from "@millwright/kube";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSettings } from "../../model/machine-settings.ts";

/** All that the conditions of a machine are computed from. */
export interface MachineFacts {
  readonly machine: Machine;
  /** The set that owns the machine, and the deployment that owns the set; absent for a machine on its own. */
  readonly set?: MachineSet | undefined;
  readonly deployment?: MachineDeployment | undefined;
  /** How their templates differ, a line for people each. Default: computed. The same for all machines of a set. */
  readonly differences?: readonly string[];
  /** Whether there is a cluster that machines join. */
  readonly hasTarget: boolean;
  /** Whether the API server of that cluster is reachable. */
  readonly isTargetReachable: boolean;
  /**
   * The node; `missing` when it does not exist; `unread` when only the machine was read: its status has a copy of the node's
   * conditions.
   */
  readonly node: Node | "missing" | "unread";
  readonly hasClass: boolean;
  readonly settings: MachineSettings;
}

/** Computes a condition of a machine. */
export type ConditionOf = (facts: MachineFacts, now: Date) => DerivedCondition | undefined;

/** The node, if it was read. */
export const nodeOf = ({ node }: MachineFacts): Node | undefined => (typeof node === "string" ? undefined : node);

/** Conditions of the node: its own, else the copy. */
export const nodeConditionsOf = (facts: MachineFacts): readonly NodeCondition[] =>
  nodeOf(facts)?.status?.conditions ??
  (facts.machine.status?.conditions ?? []).filter(({ type }) => isNodeConditionType(type));

/** Whether the machine had a node once: only then is there a copy of its conditions. */
export const hadNode = ({ machine }: MachineFacts): boolean =>
  (machine.status?.conditions ?? []).some(({ type }) => isNodeConditionType(type));

/** Whether the node is known to be missing: it was not found, or the last operation of the machine reports that. */
export function isNodeGone(facts: MachineFacts): boolean {
  if (facts.node !== "unread") return facts.node === "missing";
  const { metadata, status } = facts.machine;
  const { reason, nodeName } = readOperation(status);
  const isReported = reason === "NodeMissing" && nodeName === (metadata.labels?.[labelKeys.node] ?? "");
  return phaseOf(facts.machine) === "Unknown" && isReported;
}

/** The kind of the class, as messages name it. */
export const classKindOf = ({ machine }: MachineFacts): string => machine.spec.class?.kind ?? "MachineClass";

/** Wall clock of an API time, milliseconds; `undefined` where there is none. */
export const timeOf = (text: string | null | undefined): number | undefined =>
  text == null || Number.isNaN(Date.parse(text)) ? undefined : Date.parse(text);

/** Since when the machine is in its phase. */
export const phaseSince = ({ machine }: MachineFacts): string | undefined =>
  machine.status?.currentStatus?.lastUpdateTime ?? undefined;

/** Creates a condition; `since` is the time of what it was derived from. */
export const newCondition = (
  type: string,
  status: ConditionStatus,
  reason: string,
  message = "",
  since?: string,
): DerivedCondition => ({
  type,
  status,
  reason,
  message,
  ...(since === undefined ? {} : { lastTransitionTime: since }),
});
