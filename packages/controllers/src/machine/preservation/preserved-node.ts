import { annotationKeys, type Taint, taintEffects, taintKeys } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { apiTime } from "@millwright/kube";
import type { MachineAction } from "../state/decision.ts";

const isPreservedTaint = ({ key, effect }: Taint): boolean =>
  key === taintKeys.preserved && effect === taintEffects.noSchedule;

/** The taint that keeps new pods off the node of a Failed, preserved machine. */
export const preservedTaint = (node: Node | undefined): Taint | undefined => node?.spec?.taints?.find(isPreservedTaint);

/** Desired marks of a node: annotations to set or (null) remove, and whether it has the taint (`undefined`: unchanged). */
export interface NodeMarks {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly isTainted: boolean | undefined;
}

/**
 * The patch that sets these marks on a node, or none. The taint contains its time: the drain's deadline counts from it. A merge patch replaces
 * lists, so a patch of taints requires the observed version of the node.
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

/** Disables the scale-down of the node by the cluster autoscaler, and records that the controller did so, unless a user has set it. */
export const withoutScaleDown = (node: Node): NodeMarks["annotations"] =>
  node.metadata.annotations?.[annotationKeys.scaleDownDisabled] === undefined
    ? { [annotationKeys.scaleDownDisabled]: "true", [annotationKeys.scaleDownDisabledByController]: "true" }
    : {};

/** Allows the scale-down again, if the controller disabled it. */
export const withScaleDown = (node: Node): NodeMarks["annotations"] =>
  node.metadata.annotations?.[annotationKeys.scaleDownDisabledByController] === "true"
    ? { [annotationKeys.scaleDownDisabled]: null, [annotationKeys.scaleDownDisabledByController]: null }
    : {};
