import {
  type Machine,
  type MachineDeployment,
  type MachineSet,
  matchesLabels,
  parseLabelSelector,
  validateMachineDeployment,
  validateMachineSet,
  withMachineDeploymentDefaults,
} from "@millwright/core";
import { claimObjects, controllerRefOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { nodesOfMachines, type NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { problemsOf } from "../cluster/readable.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

type Observed = Pick<ControllerContext, "caches" | "namespace" | "target">;

/** Where a pass over a set finds what it looks at: the caches of a controller, or objects that a preview has read. */
export interface SetSources {
  /** All machines of the namespace, whoever has them. */
  readonly machines: readonly Machine[];
  /** Machines that the set controls, whatever its selector says. */
  readonly controlled: number;
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

/** What the sources tell of a set and its machines. */
export function machineSetSnapshot(set: MachineSet, sources: SetSources): MachineSetSnapshot {
  const problems = problemsOf(set, validateMachineSet);
  // On its way out, and while its spec is refused, an owner goes on with what it controls, whatever has become of its selector.
  const keepsAll = set.metadata.deletionTimestamp !== undefined || problems.length > 0;
  const selector = set.spec.selector === undefined ? undefined : parseLabelSelector(set.spec.selector);
  const isWanted = ({ metadata }: Machine): boolean =>
    keepsAll || (selector?.ok === true && matchesLabels(selector.matcher, metadata.labels));
  const claim = claimObjects(set, sources.machines, isWanted);
  return {
    set,
    claim,
    controlled: sources.controlled,
    deployment: deploymentOf(set, sources.deployment),
    nodes: sources.nodesOf(claim.owned),
    problems,
  };
}

/** What the caches tell of a set and its machines. */
export const observeMachineSet = (context: Observed, set: MachineSet): MachineSetSnapshot =>
  machineSetSnapshot(set, {
    machines: context.caches.machines.store.list(context.namespace),
    controlled: context.caches.machines.store.byIndex("owner", set.metadata.uid ?? "").length,
    deployment: (name) => context.caches.deployments.store.getByRef({ namespace: context.namespace, name }),
    nodesOf: (machines) => nodesOfMachines(machines, context),
  });
