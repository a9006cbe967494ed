import { type NodeChange, nodePatch, noChange } from "../state/node-patch.ts";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import { candidatesIn, type MachineList, type MachinePredicate } from "../../machine-lists/machine-list.ts";
import { isDeleting } from "../../model/phase.ts";
import { withoutScaleDown, withScaleDown } from "../../machine/preservation/preserved-node.ts";
import {
  type InPlaceNodeMarks,
  desiredMarksForOldSet,
  desiredMarksForReleased,
} from "../in-place/in-place-node-marks.ts";
import { readUpdateNote, type UpdateState, updateStateOf } from "../in-place/update-state.ts";
import { avoidsOldNodes } from "../sets/machine-set-shape.ts";
import type { SetView } from "../state/set-size.ts";
import type { MachineDeploymentSnapshot } from "../state/snapshot.ts";

/** `once synchronized`: a node that has just joined gets the annotations with the first patch of the machine controller. */
export type KeptFromScaler = boolean | "once synchronized";

/** What the marks of nodes depend on besides the nodes. */
export interface NodeDecisionOptions {
  /** Machines whose nodes are selected for an in-place update in this reconcile. */
  readonly select: readonly string[];
  /** Whether scale-down by the cluster-autoscaler is disabled during a rollout; `false` after it; `undefined` keeps the annotations. */
  readonly isKeptFromScaler: KeptFromScaler | undefined;
  /** Whether all marks are removed, whatever the strategy. Default: `false`. */
  readonly isOver?: boolean;
}

interface Place {
  readonly machine: Machine;
  readonly node: Node;
  readonly isOld: boolean;
}

/** Sets or removes the annotations of the cluster-autoscaler; those of a preserved machine are removed by its preservation. */
function scalerAnnotations(
  { machine, node }: Place,
  isKept: KeptFromScaler | undefined,
): Readonly<Record<string, string | null>> {
  if (isKept === undefined) return {};
  if (isKept === "once synchronized" && node.metadata.labels?.[labelKeys.machineName] === undefined) return {};
  if (isKept !== false) return withoutScaleDown(node);
  return machine.status?.currentStatus?.preserveExpiryTime == null ? withScaleDown(node) : {};
}

/**
 * The marks that an in-place update needs on a node. With another strategy only the marks of an in-place update are removed: labels that a user has set
 * to update a single node are kept.
 */
function inPlaceMarksOf(
  { node, isOld }: Place,
  state: UpdateState,
  target: string | undefined,
  isChosen: boolean,
): InPlaceNodeMarks {
  if (target !== undefined) {
    return isOld ? desiredMarksForOldSet(node, state, isChosen, target) : desiredMarksForReleased(node, state);
  }
  const isMarked = state === "settling" || readUpdateNote(node) !== undefined;
  return isMarked ? desiredMarksForReleased(node, state) : { marks: noChange };
}

/** What the nodes of all machines of a set are to carry. */
interface SetMarkOptions {
  readonly isOld: boolean;
  /** Name of the set of the current template. */
  readonly target: string | undefined;
  readonly isInPlace: boolean;
  readonly isKept: KeptFromScaler | undefined;
  readonly isAvoided: boolean;
}

/** Everything that determines what a node is to carry. */
interface NodeInput extends SetMarkOptions {
  readonly machine: Machine;
  readonly node: Node;
  readonly isChosen: boolean;
}

function changeOf({ target, isInPlace, isChosen, isKept, isAvoided, ...place }: NodeInput): NodeChange | undefined {
  const { machine, node } = place;
  const state = updateStateOf(machine, node, target);
  const { marks, condition } = inPlaceMarksOf(place, state, isInPlace ? target : undefined, isChosen);
  const patch = nodePatch(node, {
    ...noChange,
    ...marks,
    annotations: { ...marks.annotations, ...scalerAnnotations(place, isKept) },
    isAvoided,
  });
  if (patch === undefined && condition === undefined) return undefined;
  return {
    name: node.metadata.name,
    ...(patch === undefined ? {} : { patch }),
    ...(condition === undefined ? {} : { condition }),
  };
}

/** The input of a machine; `undefined` when it has no node, or the machine or the node is being deleted. */
function nodeInputOf(
  machine: Machine,
  nodes: NodesOfMachines,
  options: SetMarkOptions,
  isChosen: boolean,
): NodeInput | undefined {
  const node = nodes.get(machine.metadata.name);
  if (node === undefined || node.metadata.deletionTimestamp != null || isDeleting(machine)) return undefined;
  return { ...options, machine, node, isChosen };
}

/** Makes the predicate whether the node of a machine that is not selected has to change. */
const needsChange =
  ({ nodes, ...options }: SetMarkOptions & { readonly nodes: NodesOfMachines }): MachinePredicate =>
  (machine) => {
    const input = nodeInputOf(machine, nodes, options, false);
    return input !== undefined && changeOf(input) !== undefined;
  };

/** The machines of a set, and what their nodes are to carry. */
interface MachinesToMark {
  readonly machines: MachineList;
  readonly options: SetMarkOptions;
}

/** The machines whose nodes may have to change, in order. */
function onlyChanging(
  { machines, options }: MachinesToMark,
  nodes: NodesOfMachines,
  chosen: ReadonlySet<string>,
): MachinesToMark {
  const candidates = candidatesIn(machines, needsChange, { nodes, ...options });
  if (chosen.size === 0 || candidates === machines) return { machines: candidates, options };
  const both = new Set(candidates);
  return { machines: machines.filter((each) => both.has(each) || chosen.has(each.metadata.name)), options };
}

/** What the marks of nodes are decided from. */
type NodesSnapshot = Pick<MachineDeploymentSnapshot, "deployment" | "nodes" | "sets">;

/**
 * What the nodes of a deployment are to carry, computed in each reconcile (MCM, `pkg/controller/deployment_rolling.go` annotateNodesBackingMachineSets; MCM, `pkg/controller/deployment_rolling.go` taintNodesBackingMachineSets): nodes that join later are marked, too,
 * and stale marks are removed at the end of a rollout, after a rollback and after a change of the strategy. At most one patch per node.
 */
export function decideNodes(
  { deployment, nodes = new Map(), sets: { newSet, oldSets } }: NodesSnapshot,
  { select, isKeptFromScaler: isKept, isOver = false }: NodeDecisionOptions,
): readonly NodeChange[] {
  const target = newSet?.set.metadata.name;
  const isInPlace = !isOver && deployment.spec.strategy?.type === "InPlaceUpdate";
  const avoids = !isOver && avoidsOldNodes(deployment);
  const chosen = new Set(select);
  const toMark = ({ machines }: SetView, isOld: boolean): MachinesToMark => ({
    machines,
    options: { isOld, target, isInPlace, isKept, isAvoided: isOld && avoids },
  });
  const all = [...oldSets.map((view) => toMark(view, true)), ...(newSet === undefined ? [] : [toMark(newSet, false)])];
  const inputsOf = (of: readonly MachinesToMark[]): readonly NodeInput[] =>
    of.flatMap(({ machines, options }) =>
      machines.flatMap((machine) => nodeInputOf(machine, nodes, options, chosen.has(machine.metadata.name)) ?? []),
    );
  // Each node once: of two machines that name the same node the later one decides, also when nothing has to change for it.
  const areShared = new Set(nodes.values()).size < nodes.size;
  const inputs = inputsOf(areShared ? all : all.map((each) => onlyChanging(each, nodes, chosen)));
  const byNode = new Map(inputs.map((each) => [each.node.metadata.name, each]));
  return [...byNode.values()].flatMap((each) => changeOf(each) ?? []);
}
