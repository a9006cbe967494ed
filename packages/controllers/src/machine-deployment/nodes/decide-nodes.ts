import type { Machine } from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";
import { isDeleting } from "../../machine/phase.ts";
import { withoutScaleDown, withScaleDown } from "../../machine/preservation/preserved-node.ts";
import type { NodeConditionState } from "../../machine/node-condition.ts";
import { type InPlaceWish, wishForOld, wishForReleased } from "../in-place/node-wish.ts";
import { readUpdateNote } from "../in-place/update-note.ts";
import { type UpdateState, updateStateOf } from "../in-place/update-state.ts";
import { nodePatch, nothingWished } from "./node-patch.ts";
import { avoidsOldNodes } from "../sets/set-marks.ts";
import type { SetView } from "../sizes/set-size.ts";
import type { MachineDeploymentSnapshot, Sets } from "../snapshot.ts";

/** What is to be written to a node. */
export interface NodeChange {
  readonly name: string;
  readonly patch?: Readonly<Record<string, unknown>>;
  /** What the node is to say of its machine after the patch. */
  readonly condition?: NodeConditionState;
}

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
): InPlaceWish {
  if (target !== undefined) {
    return isOld ? wishForOld(node, state, isChosen, target) : wishForReleased(node, state);
  }
  const isMarked = state === "settling" || readUpdateNote(node) !== undefined;
  return isMarked ? wishForReleased(node, state) : { marks: nothingWished };
}

/** What a node is to carry follows from these and from nothing else. */
interface Question extends Place {
  /** Name of the set of the template that is wanted. */
  readonly target: string | undefined;
  readonly isInPlace: boolean;
  readonly isChosen: boolean;
  readonly isKept: boolean | undefined;
  readonly isAvoided: boolean;
}

function changeOf({ target, isInPlace, isChosen, isKept, isAvoided, ...place }: Question): NodeChange | undefined {
  const { machine, node } = place;
  const state = updateStateOf(machine, node, target);
  const { marks, condition } = inPlaceWish(place, state, isInPlace ? target : undefined, isChosen);
  const patch = nodePatch(node, {
    ...nothingWished,
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

/** Objects never change, and of the nodes of a large deployment few do from one pass to the next: those that carried all stay out of the way as long as the question is the same. */
const satisfied = new WeakMap<Node, Question>();

const isSame = (a: Question, b: Question): boolean =>
  a.machine === b.machine &&
  a.isOld === b.isOld &&
  a.target === b.target &&
  a.isInPlace === b.isInPlace &&
  a.isChosen === b.isChosen &&
  a.isKept === b.isKept &&
  a.isAvoided === b.isAvoided;

const isSatisfied = (question: Question): boolean => {
  const before = satisfied.get(question.node);
  return before !== undefined && isSame(before, question);
};

/**
 * What the nodes of a deployment are to carry, each pass anew (machineset-machinedeployment.md, 16.2, 16.3, F13, F39): nodes that join later get their share,
 * and what does not belong any more goes on every way out, be it the end, a rollback or another strategy. At most one patch per node.
 */
export function decideNodes(
  { deployment, nodes = new Map() }: MachineDeploymentSnapshot,
  sets: Sets,
  { select, isKeptFromScaler, isOver = false }: NodeDecisionOptions,
): readonly NodeChange[] {
  const target = sets.newSet?.set.metadata.name;
  const isInPlace = !isOver && deployment.spec.strategy?.type === "InPlaceUpdate";
  const avoids = !isOver && avoidsOldNodes(deployment);
  const chosen = new Set(select);
  const questions: Question[] = [];
  const ask = ({ machines }: SetView, isOld: boolean): void => {
    const isAvoided = isOld && avoids;
    for (const machine of machines) {
      const { name } = machine.metadata;
      const node = nodes.get(name);
      if (node === undefined || node.metadata.deletionTimestamp != null || isDeleting(machine)) continue;
      const isChosen = chosen.has(name);
      questions.push({ machine, node, isOld, target, isInPlace, isChosen, isKept: isKeptFromScaler, isAvoided });
    }
  };
  for (const view of sets.oldSets) ask(view, true);
  if (sets.newSet !== undefined) ask(sets.newSet, false);
  if (questions.every(isSatisfied)) return [];
  // Each node once: two machines that name one node must not write to it in turns.
  const byNode = new Map(questions.map((question) => [question.node.metadata.name, question]));
  return [...byNode.values()].flatMap((question) => {
    const change = isSatisfied(question) ? undefined : changeOf(question);
    if (change === undefined) satisfied.set(question.node, question);
    return change ?? [];
  });
}
