import {
  annotationKeys,
  deletionsHeldConditionType,
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  labelKeys,
  legacyConditionTypes as legacy,
  type Machine,
  type MachineClass,
  machineCause,
  type MachineDeployment,
  type MachineSet,
  specValidConditionType,
  summaryConditionTypes,
} from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf } from "@millwright/kube";
import { cleanText, MAX_ROW_TEXT } from "./clean.ts";
import { isTerminating, lifecycleOf, type Tone } from "./lifecycle.ts";

/** What every row has. */
interface RowBase {
  /** Unique over all kinds. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** RFC 3339; empty when unknown. */
  readonly created: string;
}

/** A machine, as a line of the page. */
export interface MachineRow extends RowBase {
  readonly kind: "machine";
  readonly phase: string;
  /** Index of the lifecycle step. */
  readonly step: number;
  readonly tone: Tone;
  /** RFC 3339: when the step began, as far as is known. */
  readonly since: string;
  /** Name of the set that controls it. */
  readonly set: string;
  readonly node: string;
  readonly vm: string;
  readonly className: string;
  /** Type of its VM; empty when unknown, like the zone. */
  readonly vmType: string;
  readonly zone: string;
  /** Its last operation, or what it waits for. */
  readonly cause: string;
  readonly isTerminating: boolean;
  /** Whether the deletion budget holds its deletion. */
  readonly isHeld: boolean;
}

/** A set, as a bar of the rollout timeline. */
export interface SetRow extends RowBase {
  readonly kind: "set";
  readonly deployment: string;
  readonly revision: string;
  readonly className: string;
  readonly desired: number;
}

/** A condition that needs attention. */
export interface Attention {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** A deployment, or a set without one, as a card of the page. */
export interface DeploymentRow extends RowBase {
  readonly kind: "deployment";
  readonly revision: string;
  readonly desired: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
  readonly isPaused: boolean;
  /** Where the deployment is: reason and message of Ready while it is not as desired, else of Progressing. */
  readonly progress: string;
  readonly attention: readonly Attention[];
}

/** Any line of the page. */
export type Row = MachineRow | SetRow | DeploymentRow;

const text = (value: string | undefined | null): string => cleanText(value ?? "", MAX_ROW_TEXT);

const base = (kind: Row["kind"], { metadata }: ApiObject): RowBase => ({
  id: rowId(kind, metadata),
  namespace: text(metadata.namespace),
  name: text(metadata.name),
  created: text(metadata.creationTimestamp),
});

/** The id of the row of an object. */
export const rowId = (kind: Row["kind"], { namespace = "", name = "" }: ApiObject["metadata"]): string =>
  `${kind}/${text(namespace)}/${text(name)}`;

/** What is shown of a machine beside its own fields. */
interface MachineContext {
  /** Type and zone are those of its Node, and before it has joined those of its class. */
  readonly node?: ApiObject | undefined;
  readonly machineClass?: Pick<MachineClass, "nodeTemplate"> | undefined;
}

/** When the step of a machine began: a deletion stage is as old as its first record, and the phase names it otherwise. */
function sinceOf(machine: Machine): string {
  const { currentStatus, lastOperation } = machine.status ?? {};
  const { creationTimestamp, deletionTimestamp } = machine.metadata;
  if (!isTerminating(machine)) return currentStatus?.lastUpdateTime ?? creationTimestamp ?? "";
  const recorded = lastOperation?.type === "Delete" ? lastOperation.lastUpdateTime : undefined;
  return recorded ?? deletionTimestamp ?? "";
}

const phaseText = (machine: Machine): string => {
  if (isTerminating(machine)) return "Terminating";
  return machine.status?.currentStatus?.phase || "Creating";
};

/**
 * The row of a machine.
 *
 * @param previous its last row: a machine that is still in the same deletion stage keeps the time at which that began
 */
export function machineRow(
  machine: Machine,
  isHeld: boolean,
  previous?: MachineRow,
  { node, machineClass }: MachineContext = {},
): MachineRow {
  const labels = { ...machine.metadata.labels, ...node?.metadata.labels };
  const { instanceType, zone } = machineClass?.nodeTemplate ?? {};
  const { step, tone } = lifecycleOf(machine, isHeld);
  const terminating = isTerminating(machine);
  const hasMoved = previous === undefined || previous.step !== step || !previous.isTerminating;
  return {
    ...base("machine", machine),
    kind: "machine",
    phase: text(phaseText(machine)),
    step,
    tone,
    since: terminating && !hasMoved ? previous.since : text(sinceOf(machine)),
    set: text(controllerRefOf(machine)?.name),
    node: text(machine.metadata.labels?.[labelKeys.node]),
    vm: text(machine.spec.providerID),
    className: text(machine.spec.class?.name),
    vmType: text(labels[labelKeys.instanceType] ?? instanceType),
    zone: text(labels[labelKeys.zone] ?? zone),
    cause: text(machineCause(machine)),
    isTerminating: terminating,
    isHeld,
  };
}

const revisionOf = ({ metadata }: ApiObject): string => text(metadata.annotations?.[annotationKeys.revision]);

/** The row of a set. */
export function setRow(set: MachineSet): SetRow {
  const owner = controllerRefOf(set);
  return {
    ...base("set", set),
    kind: "set",
    deployment: owner?.kind === "MachineDeployment" ? text(owner.name) : "",
    revision: revisionOf(set),
    className: text(set.spec.template.spec?.class?.name),
    desired: set.spec.replicas ?? 0,
  };
}

/** Which status of a condition needs attention; others are for the details. */
const needsAttention: Readonly<Record<string, string>> = {
  [legacy.available]: "False",
  [legacy.progressing]: "False",
  [legacy.replicaFailure]: "True",
  [legacy.frozen]: "True",
  [specValidConditionType]: "False",
  [crdsEstablishedConditionType]: "False",
  [deletionsHeldConditionType]: "True",
  [deletionProtectedConditionType]: "True",
};

/** The row of a deployment. */
export function deploymentRow(deployment: MachineDeployment): DeploymentRow {
  const { spec, status = {} } = deployment;
  const conditions = status.conditions ?? [];
  const progress =
    conditions.find(({ type, status: value }) => type === summaryConditionTypes.ready && value === "False") ??
    conditions.find(({ type }) => type === legacy.progressing);
  return {
    ...base("deployment", deployment),
    kind: "deployment",
    revision: revisionOf(deployment),
    desired: spec.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    updated: status.updatedReplicas ?? 0,
    isPaused: spec.paused === true,
    progress: text([progress?.reason, progress?.message].filter(Boolean).join(": ")),
    attention: conditions
      .filter(({ type, status: value }) => needsAttention[type] === value)
      .map(({ type, reason, message }) => ({ type: text(type), reason: text(reason), message: text(message) })),
  };
}
