import {
  type FieldProblem,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  selectorMatches,
  validateMachineDeployment,
  withMachineDeploymentDefaults,
} from "@millwright/core";
import { claimObjects } from "@millwright/kube";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { problemsOf } from "../cluster/readable.ts";
import { withGates } from "./gates/with-gates.ts";
import { rolloutOptionProblems } from "./gates/rollout-options.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** Where a pass over a deployment finds what it looks at: the caches of a controller, or objects that a preview has read. */
export interface DeploymentSources {
  /** All sets of the namespace, whoever has them. */
  readonly sets: readonly MachineSet[];
  /** Machines that a set controls, by its UID. */
  readonly machinesOf: (uid: string) => readonly Machine[];
  /** Nodes of machines; absent without a target cluster. */
  readonly nodesOf?: (machines: Iterable<Machine>) => NodesOfMachines;
  readonly disablesScaleDown: boolean;
}

/** An update in place happens on nodes; where there are none it is refused like any other field, in plain sight. */
function unsupported({ spec }: MachineDeployment, hasTarget: boolean): readonly FieldProblem[] {
  if (spec.strategy?.type !== "InPlaceUpdate" || hasTarget) return [];
  const message =
    "InPlaceUpdate needs nodes, and this installation has no target cluster; use RollingUpdate or Recreate";
  return [{ path: "spec.strategy.type", message, kind: "notSupported" }];
}

/** What is wrong with a deployment, be it in its spec or in the annotations by which it asks for more. */
export const deploymentProblems = (deployment: MachineDeployment, hasTarget: boolean): readonly FieldProblem[] =>
  problemsOf(deployment, (each) => [
    ...validateMachineDeployment(each),
    ...unsupported(each, hasTarget),
    ...rolloutOptionProblems(each),
  ]);

function* eachOf(lists: Iterable<readonly Machine[]>): Generator<Machine> {
  for (const list of lists) yield* list;
}

/** What a pass over a deployment sees, and the limits that hold for its rollout now. */
export function observeMachineDeployment(
  deployment: MachineDeployment,
  { sets, machinesOf, nodesOf, disablesScaleDown }: DeploymentSources,
  now: Date,
): MachineDeploymentSnapshot {
  const problems = deploymentProblems(deployment, nodesOf !== undefined);
  // On its way out, and while its spec is refused, an owner goes on with what it controls, whatever has become of its selector.
  const keepsAll = deployment.metadata.deletionTimestamp !== undefined || problems.length > 0;
  const isWanted = (set: MachineSet): boolean =>
    keepsAll || selectorMatches(deployment.spec.selector, set.metadata.labels);
  const claim = claimObjects(deployment, sets, isWanted);
  const machines = new Map(
    claim.owned.map(({ metadata: { uid = "" } }): [string, readonly Machine[]] => [uid, machinesOf(uid)]),
  );
  const snapshot: MachineDeploymentSnapshot = {
    deployment: problems.length === 0 ? withMachineDeploymentDefaults(deployment) : deployment,
    claim,
    machines,
    ...(nodesOf === undefined ? {} : { nodes: nodesOf(eachOf(machines.values())) }),
    disablesScaleDown,
    problems,
  };
  return withGates(snapshot, now);
}
