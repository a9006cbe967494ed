import {
  annotationKeys,
  deletionMachinePriority,
  deletionsHeldConditionType,
  labelKeys,
  legacyConditionTypes,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  type SizeLimits,
  trueLabel,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { type CallCode, CallError } from "../wire/call-error.ts";
import { isEnding, isFulfilled } from "./instance.ts";

/** What a call changes of a deployment. */
export type ResizePlan =
  | { readonly kind: "change"; readonly replicas: number; readonly annotations: Readonly<Record<string, string>> }
  /** It is so already. */
  | { readonly kind: "none" }
  | { readonly kind: "rejected"; readonly code: CallCode; readonly message: string };

const none: ResizePlan = { kind: "none" };
const rejected = (code: CallCode, message: string): ResizePlan => ({ kind: "rejected", code, message });

/**
 * The size of a deployment.
 *
 * @throws CallError UNAVAILABLE while it has none: its controller is about to write the one that it had
 */
export function sizeOf({ metadata, spec }: MachineDeployment): number {
  if (spec.replicas !== undefined) return spec.replicas;
  throw new CallError("UNAVAILABLE", `MachineDeployment ${metadata.name} has no spec.replicas yet`);
}
const isTerminating = ({ metadata }: MachineDeployment): boolean => metadata.deletionTimestamp !== undefined;
const terminating = rejected("FAILED_PRECONDITION", "the MachineDeployment is being deleted");

/** More machines, up to the maximum. */
export function planIncrease(deployment: MachineDeployment, { max }: SizeLimits, delta: number): ResizePlan {
  if (delta <= 0) return rejected("INVALID_ARGUMENT", "the increase must be positive");
  if (isTerminating(deployment)) return terminating;
  const replicas = sizeOf(deployment) + delta;
  if (replicas > max) return rejected("OUT_OF_RANGE", `${replicas} machines exceed the maximum of ${max}`);
  return { kind: "change", replicas, annotations: {} };
}

const entriesOf = ({ metadata: { annotations } }: MachineDeployment): readonly string[] =>
  (annotations?.[annotationKeys.triggerDeletion] ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

const nameIn = (entry: string): string => entry.split("~")[0] ?? "";

function isMarked({ metadata: { annotations } }: Machine): boolean {
  const isPrioritized = annotations?.[annotationKeys.machinePriority] === String(deletionMachinePriority);
  return isPrioritized && (annotations[annotationKeys.markedForDeletionTime] ?? "") !== "";
}

/**
 * Whether the template is being rolled out: then the number of machines is that of the rollout, and a deletion would lower the size for good. More than one set has machines, unless the
 * condition reports the end, or a pause. A new deployment that waits for its first machines is none.
 */
export function isRollingOut({ status }: MachineDeployment, activeSets: number): boolean {
  const { status: state, reason } = status?.conditions?.find(({ type }) => type === "Progressing") ?? {};
  const isOver =
    (state === "True" && reason === "NewMachineSetAvailable") || (state === "Unknown" && reason === "DeploymentPaused");
  return activeSets > 1 && !isOver;
}

/** What is known of the machines when some are to go. */
export interface ShrinkFacts {
  /** Of a deletion, those that are named; of a smaller size, all. Read after the deployment: an entry that is no longer in it belongs to a machine that is terminating by then. */
  readonly machines: readonly Machine[];
  /** Sets of the deployment. */
  readonly sets: readonly MachineSet[];
  readonly now: Date;
}

const countActive = (sets: readonly MachineSet[]): number => sets.filter(({ spec }) => (spec.replicas ?? 0) > 0).length;

/** Machines that are neither named for deletion yet, nor ending anyhow. */
function stayingOf(deployment: MachineDeployment, machines: readonly Machine[]): readonly Machine[] {
  const known = new Set(entriesOf(deployment).map(nameIn));
  return machines.filter((machine) => !isEnding(machine) && !isMarked(machine) && !known.has(machine.metadata.name));
}

/**
 * A smaller size whose machines are named, by the protocol of Gardener's autoscaler: one write lowers the size and names them in an annotation, from which the deployment controller marks them
 * (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations).
 */
function shrunk(deployment: MachineDeployment, replicas: number, names: readonly string[], now: Date): ResizePlan {
  if (names.length === 0) return { kind: "change", replicas, annotations: {} };
  const time = apiTime(now);
  const all = [...entriesOf(deployment), ...names.map((name) => `${name}~${time}`)].toSorted();
  return {
    kind: "change",
    replicas,
    annotations: {
      [annotationKeys.triggerDeletion]: all.join(","),
      [annotationKeys.lastReplicaChangeByScaler]: time,
    },
  };
}

/**
 * Machines to delete. One that was named before, or that is deleted or replaced already, does not lower the size again. The minimum is one of machines that serve: one without a VM is given back
 * below it, too. Otherwise the autoscaler would wait for it for ever, and scale no other group.
 */
export function planDeletion(
  deployment: MachineDeployment,
  { min }: SizeLimits,
  { machines, sets, now }: ShrinkFacts,
): ResizePlan {
  const victims = [
    ...new Map(stayingOf(deployment, machines).map((machine) => [machine.metadata.name, machine])).values(),
  ];
  if (victims.length === 0) return none;
  if (isTerminating(deployment)) return terminating;
  if (isRollingOut(deployment, countActive(sets)))
    return rejected("FAILED_PRECONDITION", "the MachineDeployment is rolling out a template");
  const replicas = sizeOf(deployment) - victims.length;
  if (replicas < min && victims.some(isFulfilled))
    return rejected("FAILED_PRECONDITION", `${replicas} machines are below the minimum of ${min}`);
  return shrunk(
    deployment,
    Math.max(replicas, 0),
    victims.map(({ metadata }) => metadata.name),
    now,
  );
}

/** Whether machines of a deployment are missing or kept for a reason that a smaller size would only hide. */
function isHeld({ metadata, status }: MachineDeployment, sets: readonly MachineSet[]): boolean {
  const isTrue = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;
  return (
    metadata.labels?.[labelKeys.freeze] === trueLabel ||
    isTrue(legacyConditionTypes.frozen) ||
    isTrue(deletionsHeldConditionType) ||
    sets.some(({ metadata: { annotations } }) => annotations?.[annotationKeys.expectedReplicas] !== undefined)
  );
}

/** Those whose creation failed first. */
const byFailure = (a: Machine, b: Machine): number => Number(hasFailed(b)) - Number(hasFailed(a));
const hasFailed = ({ status }: Machine): boolean => status?.lastOperation?.state === "Failed";

/**
 * Gives back machines that were requested and have no VM, as many as there are, those first whose creation failed; none below the minimum, none while a rollout or a hold decides about the
 * number. Never rejected for that: the autoscaler would end its loop, in which it scales the other groups.
 */
export function planDecrease(
  deployment: MachineDeployment,
  { min }: SizeLimits,
  delta: number,
  { machines, sets, now }: ShrinkFacts,
): ResizePlan {
  if (delta >= 0) return rejected("INVALID_ARGUMENT", "the decrease must be negative");
  if (isTerminating(deployment)) return terminating;
  if (isHeld(deployment, sets) || isRollingOut(deployment, countActive(sets))) return none;
  const staying = stayingOf(deployment, machines);
  const size = sizeOf(deployment);
  const lacking = size - staying.filter(isFulfilled).length;
  const count = Math.min(-delta, lacking, size - min);
  if (count <= 0) return none;
  const failedFirst = staying.filter((machine) => !isFulfilled(machine)).toSorted(byFailure);
  // Those of the size that are not even requested go first.
  const unrequested = Math.max(size - staying.length, 0);
  const names = failedFirst.slice(0, Math.max(count - unrequested, 0)).map(({ metadata }) => metadata.name);
  return shrunk(deployment, size - count, names, now);
}
