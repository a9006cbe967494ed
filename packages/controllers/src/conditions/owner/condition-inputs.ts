import { controllerOf, type Machine, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import type { ControllerContext } from "../../cluster/context.ts";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import { areNodesUnread } from "../../cluster/unread-target.ts";
import { shapeProblemsOf } from "../../cluster/readable.ts";
import type { JudgedMachine, JudgeMachine } from "../group/judged-machine.ts";
import type { MachineFacts } from "../machine/facts.ts";
import { templateDifferences } from "../machine/updating.ts";
import { defaultMachineSettings, type MachineSettings } from "../../model/machine-settings.ts";

/** What conditions are computed from besides the object, its sets and their machines. */
export interface ConditionInputs {
  readonly hasTarget: boolean;
  /** Whether the API server of the nodes is reachable. */
  readonly isTargetReachable: boolean;
  readonly nodes: NodesOfMachines;
  /** Names of the classes that exist, of those that the template or a machine names. */
  readonly classes: ReadonlySet<string>;
  /** The deployment that controls a set, whatever is wrong with its spec; absent for a set on its own and for a deployment. */
  readonly deployment?: MachineDeployment | undefined;
  /** Whether the object has the shape of its kind; otherwise only its metadata is known. */
  readonly isSpecReadable: boolean;
  readonly settings: MachineSettings;
  /** Of the controller that observes. */
  readonly judge: JudgeMachine;
}

/** The deployment that controls an object, by its UID. */
function controllingDeployment(
  object: MachineSet | MachineDeployment,
  { caches, namespace }: Pick<ControllerContext, "caches" | "namespace">,
): MachineDeployment | undefined {
  const owner = controllerOf(object);
  if (owner?.kind !== "MachineDeployment") return undefined;
  const deployment = caches.deployments.store.getByRef({ namespace, name: owner.name });
  return deployment?.metadata.uid === owner.uid ? deployment : undefined;
}

/**
 * Reads the condition inputs of an object that owns machines, from caches; `undefined` when Cluster API's conditions are disabled.
 *
 * @param object as it is in the cache
 * @param nodes those of the machines; `undefined` without a target cluster
 * @param judge of the controller
 */
export function observeConditionInputs(
  context: Pick<ControllerContext, "caches" | "target" | "namespace" | "conditions">,
  object: MachineSet | MachineDeployment,
  machines: readonly Machine[],
  nodes: NodesOfMachines | undefined,
  judge: JudgeMachine,
): ConditionInputs | undefined {
  const { caches, target, namespace, conditions } = context;
  if (conditions?.clusterApi === false) return undefined;
  const { settings = defaultMachineSettings } = conditions ?? {};
  const named = new Set(
    [object.spec.template.spec, ...machines.map(({ spec }) => spec)].map((spec) => spec.class?.name),
  );
  const existing = [...named]
    .filter((name) => name !== undefined)
    .filter((name) => caches.classes.store.getByRef({ namespace, name }) !== undefined);
  return {
    hasTarget: target !== undefined,
    isTargetReachable:
      !areNodesUnread(context) && (target?.caches.nodes.connectivity.lostForMs() ?? 0) <= settings.unreachableAfterMs,
    nodes: nodes ?? new Map(),
    classes: new Set(existing),
    deployment: controllingDeployment(object, context),
    isSpecReadable: shapeProblemsOf(object).length === 0,
    settings,
    judge,
  };
}

type Owners = Pick<MachineFacts, "set" | "deployment" | "differences">;

/** The conditions of the machines of a set that their owners aggregate. */
export function judgeMachines(
  machines: readonly Machine[],
  inputs: ConditionInputs,
  { set, deployment }: { readonly set: MachineSet; readonly deployment: MachineDeployment | undefined },
  now: Date,
): readonly JudgedMachine[] {
  const differences = deployment === undefined ? [] : templateDifferences(set.spec.template, deployment.spec.template);
  return machines.map((machine) => inputs.judge(factsOf(machine, inputs, { set, deployment, differences }), now));
}

/** The facts of one machine of a set. */
export function factsOf(
  machine: Machine,
  { hasTarget, isTargetReachable, nodes, classes, settings }: ConditionInputs,
  owners: Owners,
): MachineFacts {
  return {
    machine,
    ...owners,
    hasTarget,
    isTargetReachable,
    node: nodes.get(machine.metadata.name) ?? "missing",
    hasClass: classes.has(machine.spec.class?.name ?? ""),
    settings,
  };
}
