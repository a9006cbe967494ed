import type { Machine } from "@millwright/core";
import type { Node } from "../cluster/node-objects.ts";
import { isDeleting } from "../machine/phase.ts";
import { withoutScaleDown, withScaleDown } from "../machine/preservation/preserved-node.ts";
import type { NodeConditionState } from "../machine/node-condition.ts";
import { type InPlaceWish, wishForOld, wishForReleased } from "./in-place/node-wish.ts";
import { readUpdateNote } from "./in-place/update-note.ts";
import { type UpdateState, updateStateOf } from "./in-place/update-state.ts";
import { nodePatch, nothingWished } from "./node-patch.ts";
import { avoidsOldNodes } from "./set-marks.ts";
import type { SetView } from "./set-size.ts";
import type { MachineDeploymentSnapshot, Sets } from "./snapshot.ts";

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

/** The machines whose nodes are there, each node once: two machines that name one node must not write to it in turns. */
function placesOf(nodes: ReadonlyMap<string, Node>, { newSet, oldSets }: Sets): readonly Place[] {
  const places = new Map<string, Place>();
  const add = ({ machines }: SetView, isOld: boolean): void => {
    for (const machine of machines) {
      const node = nodes.get(machine.metadata.name);
      const isUsed = node?.metadata.deletionTimestamp == null && !isDeleting(machine);
      if (node !== undefined && isUsed) places.set(node.metadata.name, { machine, node, isOld });
    }
  };
  for (const view of oldSets) add(view, true);
  if (newSet !== undefined) add(newSet, false);
  return [...places.values()];
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
  { machine, node, isOld }: Place,
  state: UpdateState,
  target: string | undefined,
  chosen: ReadonlySet<string>,
): InPlaceWish {
  if (target !== undefined) {
    return isOld ? wishForOld(node, state, chosen.has(machine.metadata.name), target) : wishForReleased(node, state);
  }
  const isMarked = state === "settling" || readUpdateNote(node) !== undefined;
  return isMarked ? wishForReleased(node, state) : { marks: nothingWished };
}

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
  const chosen = new Set(select);
  return placesOf(nodes, sets).flatMap((place): readonly NodeChange[] => {
    const { machine, node, isOld } = place;
    const state = updateStateOf(machine, node, target);
    const { marks, condition } = inPlaceWish(place, state, isInPlace ? target : undefined, chosen);
    const patch = nodePatch(node, {
      ...nothingWished,
      ...marks,
      annotations: { ...marks.annotations, ...scalerAnnotations(place, isKeptFromScaler) },
      isAvoided: !isOver && isOld && avoidsOldNodes(deployment),
    });
    if (patch === undefined && condition === undefined) return [];
    return [
      {
        name: node.metadata.name,
        ...(patch === undefined ? {} : { patch }),
        ...(condition === undefined ? {} : { condition }),
      },
    ];
  });
}
