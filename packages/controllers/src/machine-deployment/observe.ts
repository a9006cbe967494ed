import {
  type FieldProblem,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  selectorMatches,
  validateMachineDeployment,
  withMachineDeploymentDefaults,
} from "@millwright/core/machine-api";
import { claimObjects, type OwnerReference } from "@millwright/kube";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { ownShareProblems } from "../deletion-budget/own-share.ts";
import { holdsOfOwner } from "../guards/owner-guards.ts";
import type { Hold } from "../model/hold.ts";
import { problemsOf, shapeProblemsOf } from "../cluster/readable.ts";
import type { MachineList } from "../machine-lists/machine-list.ts";
import { releasedFrom } from "../safety/released-machines.ts";
import type { ClassOutlook } from "./gates/class-outlook.ts";
import { withGates } from "./gates/with-gates.ts";
import { rolloutOptionProblems } from "./gates/rollout-options.ts";
import { assumedSize } from "./sizes/assumed-size.ts";
import { isRollingOut } from "./state/rollout.ts";
import type { MachineDeploymentSnapshot, ObservedDeployment } from "./state/snapshot.ts";

/** Where a reconcile of a deployment reads from: the caches of a controller, or the objects of a preview. */
export interface DeploymentSources {
  /** All sets of the namespace, with any owner or none. */
  readonly sets: readonly MachineSet[];
  /** Whether a deployment that a set names does not exist. Default: it does. */
  readonly isMissing?: (controller: OwnerReference) => boolean;
  /** Machines that a set controls, by its UID. */
  readonly machinesOf: (uid: string) => MachineList;
  /** Nodes of machines; absent without a target cluster. */
  readonly nodesOf?: (machines: Iterable<Machine>) => NodesOfMachines;
  /** Default: every class can be used. */
  readonly problemOf?: ClassOutlook["problemOf"];
  /** What is held of all deployments. Default: nothing. */
  readonly commonHolds?: readonly Hold[];
  readonly disablesScaleDown: boolean;
  /** Default: `false`. */
  readonly awaitsFirstSync?: boolean;
}

/** An in-place update needs nodes; without a target cluster it is rejected like any other invalid field. */
function unsupported({ spec }: MachineDeployment, hasTarget: boolean): readonly FieldProblem[] {
  if (spec.strategy?.type !== "InPlaceUpdate" || hasTarget) return [];
  const message = "InPlaceUpdate requires a target cluster; use RollingUpdate or Recreate";
  return [{ path: "spec.strategy.type", message, kind: "notSupported" }];
}

const specProblems = (deployment: MachineDeployment, hasTarget: boolean): readonly FieldProblem[] =>
  problemsOf(deployment, (each) => [...validateMachineDeployment(each), ...unsupported(each, hasTarget)]);

const optionProblems = (deployment: MachineDeployment): readonly FieldProblem[] =>
  shapeProblemsOf(deployment).length > 0 ? [] : [...rolloutOptionProblems(deployment), ...ownShareProblems(deployment)];

/** Problems of a deployment: of its spec, and of the annotations that extend it. */
export const deploymentProblems = (deployment: MachineDeployment, hasTarget: boolean): readonly FieldProblem[] => [
  ...specProblems(deployment, hasTarget),
  ...optionProblems(deployment),
];

function* eachOf(lists: Iterable<readonly Machine[]>): Generator<Machine> {
  for (const list of lists) yield* list;
}

/** The snapshot of a deployment, and the gates of its rollout now. */
export function observeMachineDeployment(
  deployment: MachineDeployment,
  sources: DeploymentSources,
  now: Date,
): MachineDeploymentSnapshot {
  const { sets, machinesOf, nodesOf, problemOf, commonHolds, awaitsFirstSync = false } = sources;
  const ofSpec = specProblems(deployment, nodesOf !== undefined);
  const isSpecValid = ofSpec.length === 0;
  // A terminating deployment, and one with an invalid spec, keeps the sets that it controls, whatever its selector.
  const keepsAll = deployment.metadata.deletionTimestamp !== undefined || !isSpecValid;
  const isWanted = (set: MachineSet): boolean =>
    keepsAll || selectorMatches(deployment.spec.selector, set.metadata.labels);
  const claim = claimObjects(deployment, sets, isWanted, sources.isMissing);
  const machines = new Map(
    claim.owned.map(({ metadata: { uid = "" } }): [string, MachineList] => [uid, machinesOf(uid)]),
  );
  const unusableClass = isRollingOut(deployment, claim.owned) ? problemOf?.(deployment) : undefined;
  const size = isSpecValid ? assumedSize(deployment, claim.owned) : undefined;
  const sized = size === undefined ? deployment : { ...deployment, spec: { ...deployment.spec, replicas: size } };
  const observed: ObservedDeployment = {
    deployment: isSpecValid ? withMachineDeploymentDefaults(sized) : deployment,
    ...(deployment.spec.replicas === undefined ? { assumedSize: size === undefined ? "zero" : "kept" } : {}),
    claim,
    released: releasedFrom(deployment.metadata.uid ?? "", sets),
    machines,
    ...(nodesOf === undefined ? {} : { nodes: nodesOf(eachOf(machines.values())) }),
    ...(unusableClass === undefined ? {} : { unusableClass }),
    heldBy: holdsOfOwner(deployment, deployment, commonHolds),
    disablesScaleDown: sources.disablesScaleDown,
    awaitsFirstSync,
    problems: [...ofSpec, ...optionProblems(deployment)],
    isSpecValid,
  };
  return withGates(observed, now);
}
