import {
  type Machine,
  type MachineDeployment,
  type MachineSet,
  selectorMatches,
  validateMachineDeployment,
  validateMachineSet,
  withMachineDeploymentDefaults,
} from "@millwright/core";
import { claimObjects, controllerRefOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { nodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { problemsOf } from "../cluster/readable.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

type Observed = Pick<ControllerContext, "caches" | "namespace" | "target">;

/** The deployment that controls a set, as far as its spec can be followed. By UID: one of the same name may be another. */
function deploymentOf({ caches, namespace }: Observed, set: MachineSet): MachineDeployment | undefined {
  const owner = controllerRefOf(set);
  const found = owner === undefined ? undefined : caches.deployments.store.getByRef({ namespace, name: owner.name });
  if (found === undefined || found.metadata.uid !== owner?.uid) return undefined;
  return problemsOf(found, validateMachineDeployment).length > 0 ? undefined : withMachineDeploymentDefaults(found);
}

/** What the caches tell of a set and its machines. */
export function observeMachineSet(context: Observed, set: MachineSet): MachineSetSnapshot {
  const { caches, namespace } = context;
  const problems = problemsOf(set, validateMachineSet);
  // On its way out, and while its spec is refused, an owner goes on with what it controls, whatever has become of its selector.
  const keepsAll = set.metadata.deletionTimestamp !== undefined || problems.length > 0;
  const isWanted = (machine: Machine): boolean =>
    keepsAll || selectorMatches(set.spec.selector, machine.metadata.labels);
  const claim = claimObjects(set, caches.machines.store.list(namespace), isWanted);
  return {
    set,
    claim,
    controlled: caches.machines.store.byIndex("owner", set.metadata.uid ?? "").length,
    deployment: deploymentOf(context, set),
    nodes: nodesOfMachines(claim.owned, context),
    problems,
  };
}
