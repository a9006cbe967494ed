import type { NodeChange } from "../state/node-patch.ts";
import type { Machine } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import { machinesWhere, type Question } from "../../machine-lists/machines-where.ts";
import { isDeleting } from "../../model/phase.ts";
import { withoutScaleDown, withScaleDown } from "../../machine/preservation/preserved-node.ts";
import {
  type InPlaceNodeMarks,
  desiredMarksForOldSet,
  desiredMarksForReleased,
} from "../in-place/in-place-node-marks.ts";
import { readUpdateNote } from "../in-place/update-note.ts";
import { type UpdateState, updateStateOf } from "../in-place/update-state.ts";
import { nodePatch, noChange } from "../state/node-patch.ts";
import { avoidsOldNodes } from "../sets/set-marks.ts";
import type { SetView } from "../state/set-size.ts";
import type { MachineDeploymentSnapshot, Sets } from "../state/snapshot.ts";

/** What the wishes about nodes depend on beside the nodes. */
export interface NodeDecisionOptions {
  /** Machines whose nodes are selected for an update in place in this pass. */
  readonly select: readonly string[];
  /** Whether the cluster-autoscaler is kept from the nodes: `true` for the time of a rollout, `false` when it is over; `undefined` leaves them as they are. */
  readonly isKeptFromScaler: boolean | undefined;
  /** Whether nothing is to be left on the nodes, whatever the strategy. Default: it follows the strategy. */
  readonly isOver?: boolean;
}

interface Place {
  readonly machine: Machine;
  readonly node: Node;
  readonly isOld: boolean;
}

/** Gives or takes the annotations of the cluster-autoscaler; those of a preserved machine are its preservation's to take. */
function scalerAnnotations(
  { machine, node }: Place,
  isKept: boolean | undefined,
): Readonly<Record<string, string | null>> {
  if (isKept === undefined) return {};
  if (isKept) return withoutScaleDown(node);
  return machine.status?.currentStatus?.preserveExpiryTime == null ? withScaleDown(node) : {};
}

/**
 * What an update in place wants of a node. Of a deployment that follows another strategy only what was marked by such an update is cleaned: labels that a
 * person has set by hand, to update a single node, are theirs.
 */
function inPlaceWish(
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

/** What is wished for the nodes of all machines of a set. */
interface SetWish {
  readonly isOld: boolean;
  /** Name of the set of the template that is wanted. */
  readonly target: string | undefined;
  readonly isInPlace: boolean;
  readonly isKept: boolean | undefined;
  readonly isAvoided: boolean;
}

/** What a node is to carry follows from this and from nothing else. */
interface Asked extends SetWish {
  readonly machine: Machine;
  readonly node: Node;
  readonly isChosen: boolean;
}

function changeOf({ target, isInPlace, isChosen, isKept, isAvoided, ...place }: Asked): NodeChange | undefined {
  const { machine, node } = place;
  const state = updateStateOf(machine, node, target);
  const { marks, condition } = inPlaceWish(place, state, isInPlace ? target : undefined, isChosen);
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

/** Objects never change, and of the nodes of a large deployment few do from one pass to the next: what was found about the others holds as long as the same is asked. */
const found = new WeakMap<Node, { readonly asked: Asked; readonly change: NodeChange | undefined }>();

const isSame = (a: Asked, b: Asked): boolean =>
  a.machine === b.machine &&
  a.isOld === b.isOld &&
  a.target === b.target &&
  a.isInPlace === b.isInPlace &&
  a.isChosen === b.isChosen &&
  a.isKept === b.isKept &&
  a.isAvoided === b.isAvoided;

function changeFor(asked: Asked): NodeChange | undefined {
  const before = found.get(asked.node);
  if (before !== undefined && isSame(before.asked, asked)) return before.change;
  const change = changeOf(asked);
  found.set(asked.node, { asked, change });
  return change;
}

/** The question about a machine; `undefined` where there is no node to write to, or nothing to be written any more. */
function askAbout(machine: Machine, nodes: NodesOfMachines, wish: SetWish, isChosen: boolean): Asked | undefined {
  const node = nodes.get(machine.metadata.name);
  if (node === undefined || node.metadata.deletionTimestamp != null || isDeleting(machine)) return undefined;
  return { ...wish, machine, node, isChosen };
}

/** Which machine was asked about first for a node, and the nodes for which that was more than one. */
const namedBy = new WeakMap<Node, string>();
const shared = new WeakSet<Node>();

/** Questions by what is wished: whether the node of a machine that is not chosen lacks something. */
const lacking = new WeakMap<NodesOfMachines, Map<string, Question>>();

function lacksSomething(nodes: NodesOfMachines, wish: SetWish): Question {
  const known = lacking.get(nodes) ?? new Map<string, Question>();
  lacking.set(nodes, known);
  const { isOld, target, isInPlace, isKept, isAvoided } = wish;
  const key = JSON.stringify([isOld, target, isInPlace, isKept, isAvoided]);
  const question =
    known.get(key) ??
    ((machine: Machine): boolean => {
      const asked = askAbout(machine, nodes, wish, false);
      if (asked === undefined) return false;
      const { name } = machine.metadata;
      if ((namedBy.get(asked.node) ?? name) !== name) shared.add(asked.node);
      namedBy.set(asked.node, name);
      return changeFor(asked) !== undefined;
    });
  known.set(key, question);
  return question;
}

/** A set's machines, and what is wished for their nodes. */
interface Wishing {
  readonly machines: readonly Machine[];
  readonly wish: SetWish;
}

/** The machines whose nodes may have to change, in order. */
function concerned({ machines, wish }: Wishing, nodes: NodesOfMachines, chosen: ReadonlySet<string>): Wishing {
  const lacks = machinesWhere(machines, lacksSomething(nodes, wish));
  if (chosen.size === 0) return { machines: lacks, wish };
  const both = new Set(lacks);
  return { machines: machines.filter((each) => both.has(each) || chosen.has(each.metadata.name)), wish };
}

/**
 * What the nodes of a deployment are to carry, each pass anew (MCM, `pkg/controller/deployment_rolling.go` annotateNodesBackingMachineSets; MCM, `pkg/controller/deployment_rolling.go` taintNodesBackingMachineSets): nodes that join later get their share,
 * and what does not belong any more goes on every way out, be it the end, a rollback or another strategy. At most one patch per node.
 */
export function decideNodes(
  { deployment, nodes = new Map() }: MachineDeploymentSnapshot,
  { newSet, oldSets }: Sets,
  { select, isKeptFromScaler: isKept, isOver = false }: NodeDecisionOptions,
): readonly NodeChange[] {
  const target = newSet?.set.metadata.name;
  const isInPlace = !isOver && deployment.spec.strategy?.type === "InPlaceUpdate";
  const avoids = !isOver && avoidsOldNodes(deployment);
  const chosen = new Set(select);
  const wishing = ({ machines }: SetView, isOld: boolean): Wishing => ({
    machines,
    wish: { isOld, target, isInPlace, isKept, isAvoided: isOld && avoids },
  });
  const all = [
    ...oldSets.map((view) => wishing(view, true)),
    ...(newSet === undefined ? [] : [wishing(newSet, false)]),
  ];
  const ask = (of: readonly Wishing[]): readonly Asked[] =>
    of.flatMap(({ machines, wish }) =>
      machines.flatMap((machine) => askAbout(machine, nodes, wish, chosen.has(machine.metadata.name)) ?? []),
    );
  const few = ask(all.map((each) => concerned(each, nodes, chosen)));
  // Each node once: two machines that name one node must not write to it in turns.
  const asked = few.some(({ node }) => shared.has(node)) ? ask(all) : few;
  const byNode = new Map(asked.map((each) => [each.node.metadata.name, each]));
  return [...byNode.values()].flatMap((each) => changeFor(each) ?? []);
}
