import { isForReplacement } from "../machine-lists/for-remediation.ts";
import { labelKeys, type Machine, type MachineSet, updateResults } from "@millwright/core";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { isDeleting, isFailed } from "../model/phase.ts";
import { countMachines } from "../machine-lists/machine-counts.ts";
import { countWhere, machinesWhere } from "../machine-lists/machines-where.ts";
import { selectForDeletion } from "./deletion-order.ts";
import { isPrioritizedForDeletion, isMarkedForDeletion } from "./scale-in-mark.ts";

/** At most this many machines are created, and as many deleted, in one pass, so that one large set cannot flood the API server. */
export const BURST = 100;

/** Why machines that are missing are not created, when that is so on purpose. */
export type Blockade = "frozen" | "machines are awaited" | "scale-up disabled" | "as many as there may be";

/** What a set has to do about its number of machines. */
export interface ReplicaPlan {
  /** Machines to create now. */
  readonly create: number;
  /** Machines to delete now, the most dispensable first. */
  readonly remove: readonly Machine[];
  /** Why machines are missing that are not created, not even in a later pass. */
  readonly blocked?: Blockade;
}

/** What a plan is made from. */
export interface ReplicaFacts {
  readonly set: MachineSet;
  /** Machines that the set controls and selects. */
  readonly owned: readonly Machine[];
  readonly now: Date;
  /** Nodes of the machines, whose annotations count too. Default: none. */
  readonly nodes?: NodesOfMachines;
  /** Machines whose creation was asked for without an answer: they may exist, so they are not asked for again. Default 0. */
  readonly pending?: number;
  /** UIDs of machines whose deletion was asked for without an answer: they may go, so no other goes in their place. Default: none. */
  readonly leaving?: ReadonlySet<string>;
  /** Machines that may be created before there are as many as there may be at all. Default: no limit. */
  readonly room?: number;
  /** Whether the set is frozen. Default: not. */
  readonly isFrozen?: boolean;
}

/** Whether a machine stays with its set. One that an update in place just handed over is not surplus. */
const isSettled = (machine: Machine): boolean =>
  !isDeleting(machine) && machine.metadata.labels?.[labelKeys.updateResult] !== updateResults.successful;

/** What stands against creating what is missing. People's and the deployment's word comes before arithmetic. */
function blockadeOf({ set, isFrozen = false, room = Infinity }: ReplicaFacts, missing: number): Blockade | undefined {
  if (isFrozen) return "frozen";
  if (set.metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined) return "scale-up disabled";
  return room < missing ? "as many as there may be" : undefined;
}

/**
 * Compares the machines of a set with its `spec.replicas` (MCM, `pkg/controller/machineset.go` manageReplicas).
 *
 * A Failed machine counts as long as it exists; it is deleted, and when it is on its way out it no longer counts and gets a
 * successor. Machines just transferred by an in-place update count as present but not as surplus. Unlike the Go
 * implementation both halves run in every pass, so that failed machines go even while others are missing, and what is
 * created stays within `room` whatever is missing.
 */
export function planReplicas(facts: ReplicaFacts): ReplicaPlan {
  const { set, owned, now, pending = 0, nodes = new Map(), leaving = new Set(), room = Infinity } = facts;
  const wanted = set.spec?.replicas ?? 0;
  const isDeletable = (machine: Machine): boolean => isSettled(machine) && !leaving.has(machine.metadata.uid ?? "");
  const settled = leaving.size === 0 ? countWhere(owned, isSettled) : countWhere(owned, isDeletable);

  const missing = Math.max(0, wanted - countMachines(owned).present - pending);
  const surplus = Math.max(0, settled - wanted);
  const remove = new Set([
    ...selectForDeletion(owned, surplus, isDeletable, now),
    ...machinesWhere(owned, isPrioritizedForDeletion).filter(
      (machine) => isDeletable(machine) && isMarkedForDeletion(machine, set),
    ),
    ...machinesWhere(owned, isFailed).filter(
      (machine) => isDeletable(machine) && isForReplacement(machine, nodes, now),
    ),
  ]);
  const plan = { create: Math.min(missing, BURST), remove: [...remove].slice(0, BURST) };

  if (plan.create === 0) return plan;
  const blocked = blockadeOf(facts, missing);
  if (blocked === undefined) return plan;
  const create = blocked === "as many as there may be" ? Math.min(plan.create, Math.max(0, room)) : 0;
  return { ...plan, create, blocked };
}
