import { annotationKeys, type Taint, taintEffects, taintKeys } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import type { MachineAction } from "../state/decision.ts";

const isPreservedTaint = ({ key, effect }: Taint): boolean =>
  key === taintKeys.preserved && effect === taintEffects.noSchedule;

/** The taint that keeps new pods away from the node of a Failed machine that is preserved. */
export const preservedTaint = (node: Node | undefined): Taint | undefined => node?.spec?.taints?.find(isPreservedTaint);

/** What becomes of a node: annotations to set or (null) remove, and whether the taint is to be there (`undefined`: as it is). */
export interface NodeMarks {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly isTainted: boolean | undefined;
}

/**
 * The patch that leaves these marks on a node, or none. The taint says since when it is there: the drain's deadline is counted from it. Taints are a list
 * that a merge patch replaces whole, so that patch holds for one version of the node only.
 */
export function markNode(node: Node, { annotations, isTainted }: NodeMarks, now: Date): readonly MachineAction[] {
  const have = node.metadata.annotations ?? {};
  const changed = Object.entries(annotations).filter(([key, value]) => (have[key] ?? null) !== value);
  const taints = node.spec?.taints ?? [];
  const isChanged = isTainted !== undefined && isTainted !== (preservedTaint(node) !== undefined);
  if (changed.length === 0 && !isChanged) return [];
  const others = taints.filter((taint) => !isPreservedTaint(taint));
  const taint: Taint = { key: taintKeys.preserved, effect: taintEffects.noSchedule, timeAdded: apiTime(now) };
  const { resourceVersion } = node.metadata;
  const patch = {
    metadata: {
      ...(changed.length === 0 ? {} : { annotations: Object.fromEntries(changed) }),
      ...(isChanged && resourceVersion !== undefined ? { resourceVersion } : {}),
    },
    ...(isChanged ? { spec: { taints: isTainted ? [...others, taint] : others } } : {}),
  };
  return [{ kind: "PatchNode", name: node.metadata.name, patch }];
}

/** Keeps the cluster autoscaler from the node, and remembers that it was us, unless someone has said what is to be. */
export const withoutScaleDown = (node: Node): NodeMarks["annotations"] =>
  node.metadata.annotations?.[annotationKeys.scaleDownDisabled] === undefined
    ? { [annotationKeys.scaleDownDisabled]: "true", [annotationKeys.scaleDownDisabledByController]: "true" }
    : {};

/** Gives the node back to the cluster autoscaler if it was us who took it away. */
export const withScaleDown = (node: Node): NodeMarks["annotations"] =>
  node.metadata.annotations?.[annotationKeys.scaleDownDisabledByController] === "true"
    ? { [annotationKeys.scaleDownDisabled]: null, [annotationKeys.scaleDownDisabledByController]: null }
    : {};
