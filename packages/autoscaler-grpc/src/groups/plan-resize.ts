import { annotationKeys, deletionMachinePriority, type Machine, type MachineDeployment } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import type { CallCode } from "../wire/call-error.ts";
import { isEnding, isFulfilled } from "./instance.ts";
import type { SizeLimits } from "./size-limits.ts";

/** What a call changes of a deployment. */
export type ResizePlan =
  | { readonly kind: "change"; readonly replicas: number; readonly annotations: Readonly<Record<string, string>> }
  /** It is so already. */
  | { readonly kind: "none" }
  | { readonly kind: "rejected"; readonly code: CallCode; readonly message: string };

const none: ResizePlan = { kind: "none" };
const rejected = (code: CallCode, message: string): ResizePlan => ({ kind: "rejected", code, message });

const sizeOf = ({ spec }: MachineDeployment): number => spec.replicas ?? 0;
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

/** Fewer machines, but none that has a VM is deleted for it, and the minimum is kept. */
export function planDecrease(
  deployment: MachineDeployment,
  { min }: SizeLimits,
  delta: number,
  machines: readonly Machine[],
): ResizePlan {
  if (delta >= 0) return rejected("INVALID_ARGUMENT", "the decrease must be negative");
  if (isTerminating(deployment)) return terminating;
  const size = sizeOf(deployment);
  const existing = machines.filter(isFulfilled).length;
  if (size + delta < existing)
    return rejected("FAILED_PRECONDITION", `${existing} machines have a VM: name those to delete instead`);
  // The autoscaler ends its loop on an error, so that a group at its minimum would stop the others.
  const replicas = Math.max(size + delta, min);
  return replicas < size ? { kind: "change", replicas, annotations: {} } : none;
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

/**
 * Machines to delete, by the protocol of Gardener's autoscaler: one write lowers the size and names them in an annotation, from which the deployment controller marks them
 * (MCM, `pkg/controller/deployment.go` updateMachineAndMachineDeploymentDeletionAnnotations). A machine that was named before, or that is deleted or replaced already, does not lower the size again.
 *
 * @param deployment read before `victims`: an entry that is no longer in it belongs to a machine that is terminating by then
 */
export function planDeletion(
  deployment: MachineDeployment,
  { min }: SizeLimits,
  victims: readonly Machine[],
  { activeSets, now }: { readonly activeSets: number; readonly now: Date },
): ResizePlan {
  const entries = entriesOf(deployment);
  const known = new Set(entries.map(nameIn));
  const isNew = (machine: Machine): boolean =>
    !isEnding(machine) && !isMarked(machine) && !known.has(machine.metadata.name);
  const names = [...new Set(victims.filter(isNew).map(({ metadata }) => metadata.name))];
  if (names.length === 0) return none;
  if (isTerminating(deployment)) return terminating;
  if (isRollingOut(deployment, activeSets))
    return rejected("FAILED_PRECONDITION", "the MachineDeployment is rolling out a template");
  const replicas = sizeOf(deployment) - names.length;
  if (replicas < min) return rejected("FAILED_PRECONDITION", `${replicas} machines are below the minimum of ${min}`);
  const time = apiTime(now);
  const all = [...entries, ...names.map((name) => `${name}~${time}`)].toSorted();
  return {
    kind: "change",
    replicas,
    annotations: {
      [annotationKeys.triggerDeletion]: all.join(","),
      [annotationKeys.lastReplicaChangeByScaler]: time,
    },
  };
}
