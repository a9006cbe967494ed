import {
  type LabelSelector,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  matchesLabels,
  parseLabelSelector,
  validateMachineDeployment,
  validateMachineSet,
  readSizeLimits,
  withMachineDeploymentDefaults,
} from "@millwright/core/machine-api";
import { claimObjects, controllerRefOf, type OwnerReference } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { nodesOfMachines, type NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { commonHolds, holdsOfOwner } from "../guards/owner-guards.ts";
import type { Hold } from "../model/hold.ts";
import { problemsOf } from "../cluster/readable.ts";
import { type MachineList, machinesWhere, type MachinePredicate, predicateFor } from "../machine-lists/machine-list.ts";
import { isUndecided } from "../model/undecided-deletion.ts";
import { isDeletedOnAdoption } from "../ownership/adoption.ts";
import type { LostMachines } from "../ownership/lost-machines.ts";
import { releasedFrom } from "../safety/released-machines.ts";
import type { ClaimedMachines, MachineSetSnapshot } from "./snapshot.ts";

type Observed = Pick<ControllerContext, "caches" | "namespace" | "target">;

/** Where a reconcile of a set reads from: the caches of a controller, or the objects of a preview. */
export interface SetSources {
  /** Machines that the set controls, whatever its selector. */
  readonly controlled: MachineList;
  /** Machines that include all machines without a controller, or with one that does not exist. */
  readonly others: readonly Machine[];
  /** Whether a controller does not exist. Default: it does. */
  readonly isMissing?: (controller: OwnerReference) => boolean;
  /** The deployment of that name. */
  readonly deployment: (name: string) => MachineDeployment | undefined;
  readonly nodesOf: (machines: readonly Machine[]) => NodesOfMachines;
  /** What is held of all sets. Default: nothing. */
  readonly commonHolds?: readonly Hold[];
}

/** The deployment that controls a set. By UID: one with the same name may be another. */
function deploymentOf(set: MachineSet, named: SetSources["deployment"]): MachineDeployment | undefined {
  const owner = controllerRefOf(set);
  const found = owner === undefined ? undefined : named(owner.name);
  return found?.metadata.uid === owner?.uid ? found : undefined;
}

/** The deployment with defaults. One whose size its controller is about to write has the greatest until then. */
function unlessInvalid(found: MachineDeployment | undefined): MachineDeployment | undefined {
  if (found === undefined || problemsOf(found, validateMachineDeployment).length > 0) return undefined;
  const limits = found.spec.replicas === undefined ? readSizeLimits(found) : undefined;
  const sized = typeof limits === "object" ? { ...found, spec: { ...found.spec, replicas: limits.max } } : found;
  return withMachineDeploymentDefaults(sized);
}

const isSelectedBy = (selector: LabelSelector): MachinePredicate => {
  const parsed = parseLabelSelector(selector);
  return ({ metadata }) => parsed.ok && matchesLabels(parsed.matcher, metadata.labels);
};

/** Deleted by the garbage collector, for the owner that it had before. */
const isDeletedAsLost: MachinePredicate = (machine) => isDeletedOnAdoption(machine) && isUndecided(machine);
const isKept: MachinePredicate = (machine) => !isDeletedAsLost(machine);

const all: MachinePredicate = () => true;
const none: MachinePredicate = () => false;

/** Sorts the machines by the rules of {@link claimObjects}; machines whose owner is known already cost nothing. */
function claimMachines(
  set: MachineSet,
  { controlled, others, isMissing = () => false }: SetSources,
  isWanted: MachinePredicate,
): ClaimedMachines {
  const wanted = machinesWhere(controlled, isWanted);
  const isGoing = set.metadata.deletionTimestamp !== undefined;
  const deleted = isGoing ? [] : machinesWhere(wanted, isDeletedAsLost);
  const owned = deleted.length === 0 ? wanted : machinesWhere(wanted, isKept);
  const doubtful = wanted.length === controlled.length ? [] : controlled.filter((machine) => !isWanted(machine));
  const free = others.filter((machine) => {
    const controller = controllerRefOf(machine);
    return controller === undefined || isMissing(controller);
  });
  const { adopt, release } = claimObjects(set, [...doubtful, ...free], isWanted, isMissing);
  const lost = free.filter((machine) => isUndecided(machine) && isWanted(machine));
  return { owned, adopt, release, released: releasedFrom(set.metadata.uid ?? "", free), lost: [...lost, ...deleted] };
}

/** The snapshot of a set and its machines from these sources. */
export function machineSetSnapshot(set: MachineSet, sources: SetSources): MachineSetSnapshot {
  const problems = problemsOf(set, validateMachineSet);
  // A terminating set, and one with an invalid spec, keeps the machines that it controls, whatever its selector.
  const keepsAll = set.metadata.deletionTimestamp !== undefined || problems.length > 0;
  const { selector } = set.spec;
  const claim = claimMachines(
    set,
    sources,
    keepsAll ? all : selector === undefined ? none : predicateFor(sources.controlled, isSelectedBy, selector),
  );
  const deployment = deploymentOf(set, sources.deployment);
  return {
    set,
    claim,
    controlled: sources.controlled.length,
    deployment: unlessInvalid(deployment),
    heldBy: holdsOfOwner(set, deployment, sources.commonHolds),
    nodes: sources.nodesOf(claim.owned),
    problems,
  };
}

/** The snapshot of a set and its machines from the caches. */
export const observeMachineSet = (
  context: Observed,
  set: MachineSet,
  lost: Pick<LostMachines, "list" | "isMissing">,
): MachineSetSnapshot =>
  machineSetSnapshot(set, {
    controlled: context.caches.machines.store.byIndex("owner", set.metadata.uid ?? ""),
    others: [...context.caches.machines.store.byIndex("unowned", ""), ...lost.list()],
    isMissing: lost.isMissing,
    deployment: (name) => context.caches.deployments.store.getByRef({ namespace: context.namespace, name }),
    nodesOf: (machines) => nodesOfMachines(machines, context),
    commonHolds: commonHolds(context),
  });
