import {
  annotationKeys,
  capitalTrue,
  deletionMachinePriority,
  labelKeys,
  type Machine,
  type MachineSet,
  phaseOf,
  updateResults,
} from "@millwright/core";
import type { Node } from "../cluster/node-objects.ts";
import { isDeleting, isPreserved } from "../machine/phase.ts";
import { isToBePreserved, wishesOf } from "../machine/preservation/preserve-value.ts";
import { inDeletionOrder } from "./deletion-order.ts";

/** At most this many machines are created, and as many deleted, in one pass, so that one large set cannot flood the API server. */
export const BURST = 100;

/** What a set has to do about its number of machines. */
export interface ReplicaPlan {
  /** Machines to create now. */
  readonly create: number;
  /** Machines to delete now, the most dispensable first. */
  readonly remove: readonly Machine[];
  /** Why machines that are missing are not created, when that is so on purpose. */
  readonly blocked?: "frozen" | "scale-up disabled";
}

/** The nodes of machines, by name of the machine, as far as there are any. */
export type NodesOfMachines = ReadonlyMap<string, Node>;

/**
 * Whether a Failed machine is to be replaced. An expiry, once there, decides alone; before, the wish to preserve does, the node's before the
 * machine's, just as the machine controller will read it. MCM replaces a machine whose node is gone whatever its own annotation says.
 */
export function isForReplacement(machine: Machine, nodes: NodesOfMachines, now: Date): boolean {
  if (phaseOf(machine) !== "Failed") return false;
  if (machine.status?.currentStatus?.preserveExpiryTime != null) return !isPreserved(machine, now);
  return !isToBePreserved(wishesOf(machine, nodes.get(machine.metadata.name)));
}

/**
 * Whether the cluster-autoscaler chose this machine and the replica change that goes with the choice has reached the set. A
 * mark that is younger than the set's last scale waits for it, or else the machine would be replaced at once.
 */
function isMarkedForDeletion(machine: Machine, set: MachineSet): boolean {
  if (machine.metadata.annotations?.[annotationKeys.machinePriority] !== String(deletionMachinePriority)) return false;
  const marked = Date.parse(machine.metadata.annotations[annotationKeys.markedForDeletionTime] ?? "");
  const scaled = Date.parse(set.metadata.annotations?.[annotationKeys.lastReplicaChangeByScaler] ?? "");
  return marked <= scaled;
}

/**
 * Compares the machines of a set with its `spec.replicas` (machineset-machinedeployment.md, 8.1).
 *
 * A Failed machine counts as long as it exists; it is deleted, and when it is on its way out it no longer counts and gets a
 * successor. Machines just transferred by an in-place update count as present but not as surplus. Unlike the Go
 * implementation both halves run in every pass, so that failed machines go even while others are missing (F35).
 *
 * @param pending machines whose creation was asked for without an answer: they may exist, so they are not asked for again
 * @param nodes of the machines, whose annotations count too
 */
export function planReplicas(
  set: MachineSet,
  owned: readonly Machine[],
  now: Date,
  pending = 0,
  nodes: NodesOfMachines = new Map(),
): ReplicaPlan {
  const wanted = set.spec?.replicas ?? 0;
  const present = owned.filter((machine) => !isDeleting(machine));
  const settled = present.filter(
    (machine) => machine.metadata.labels?.[labelKeys.updateResult] !== updateResults.successful,
  );

  const missing = Math.max(0, wanted - present.length - pending);
  const surplus = Math.max(0, settled.length - wanted);
  const remove = new Set([
    ...inDeletionOrder(settled, now).slice(0, surplus),
    ...settled.filter((machine) => isMarkedForDeletion(machine, set)),
    ...settled.filter((machine) => isForReplacement(machine, nodes, now)),
  ]);
  const plan = { create: Math.min(missing, BURST), remove: [...remove].slice(0, BURST) };

  if (plan.create === 0) return plan;
  if (set.metadata.labels?.[labelKeys.freeze] === capitalTrue) return { ...plan, create: 0, blocked: "frozen" };
  if (set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined)
    return { ...plan, create: 0, blocked: "scale-up disabled" };
  return plan;
}
