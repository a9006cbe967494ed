import {
  type LabelSelector,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  matchesLabels,
  parseLabelSelector,
  validateMachineDeployment,
  validateMachineSet,
  withMachineDeploymentDefaults,
} from "@millwright/core";
import { claimObjects, type Claims, controllerRefOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { nodesOfMachines, type NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { problemsOf } from "../cluster/readable.ts";
import { machinesWhere, type Question, questionAbout } from "../machine-lists/machines-where.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

type Observed = Pick<ControllerContext, "caches" | "namespace" | "target">;

/** Where a pass over a set finds what it looks at: the caches of a controller, or objects that a preview has read. */
export interface SetSources {
  /** Machines that the set controls, whatever its selector says. */
  readonly controlled: readonly Machine[];
  /** Machines among which are all that nobody controls. */
  readonly others: readonly Machine[];
  /** The deployment of that name. */
  readonly deployment: (name: string) => MachineDeployment | undefined;
  readonly nodesOf: (machines: readonly Machine[]) => NodesOfMachines;
}

/** The deployment that controls a set, as far as its spec can be followed. By UID: one of the same name may be another. */
function deploymentOf(set: MachineSet, named: SetSources["deployment"]): MachineDeployment | undefined {
  const owner = controllerRefOf(set);
  const found = owner === undefined ? undefined : named(owner.name);
  if (found === undefined || found.metadata.uid !== owner?.uid) return undefined;
  return problemsOf(found, validateMachineDeployment).length > 0 ? undefined : withMachineDeploymentDefaults(found);
}

const isSelectedBy = questionAbout((selector: LabelSelector) => {
  const parsed = parseLabelSelector(selector);
  return ({ metadata }) => parsed.ok && matchesLabels(parsed.matcher, metadata.labels);
});

const all: Question = () => true;
const none: Question = () => false;

/** Sorts the machines by the rules of {@link claimObjects}; those that have a set for long cost nothing. */
function claimMachines(set: MachineSet, { controlled, others }: SetSources, isWanted: Question): Claims<Machine> {
  const owned = machinesWhere(controlled, isWanted);
  const doubtful = owned.length === controlled.length ? [] : controlled.filter((machine) => !isWanted(machine));
  const free = others.filter((machine) => controllerRefOf(machine) === undefined);
  const { adopt, release } = claimObjects(set, [...doubtful, ...free], isWanted);
  return { owned, adopt, release };
}

/** What the sources tell of a set and its machines. */
export function machineSetSnapshot(set: MachineSet, sources: SetSources): MachineSetSnapshot {
  const problems = problemsOf(set, validateMachineSet);
  // On its way out, and while its spec is refused, an owner goes on with what it controls, whatever has become of its selector.
  const keepsAll = set.metadata.deletionTimestamp !== undefined || problems.length > 0;
  const { selector } = set.spec;
  const claim = claimMachines(set, sources, keepsAll ? all : selector === undefined ? none : isSelectedBy(selector));
  return {
    set,
    claim,
    controlled: sources.controlled.length,
    deployment: deploymentOf(set, sources.deployment),
    nodes: sources.nodesOf(claim.owned),
    problems,
  };
}

/** What the caches tell of a set and its machines. */
export const observeMachineSet = (context: Observed, set: MachineSet): MachineSetSnapshot =>
  machineSetSnapshot(set, {
    controlled: context.caches.machines.store.byIndex("owner", set.metadata.uid ?? ""),
    others: context.caches.machines.store.list(context.namespace),
    deployment: (name) => context.caches.deployments.store.getByRef({ namespace: context.namespace, name }),
    nodesOf: (machines) => nodesOfMachines(machines, context),
  });
