import {
  annotationKeys,
  finalizers,
  isStartupTaint,
  labelKeys,
  machineEventReasons,
  type Taint,
  taintEffects,
  taintKeys,
} from "@millwright/core/machine-api";
import {
  type AppliedTemplate,
  appliedPart,
  type LastApplied,
  readLastTemplate,
  writeCapacity,
  writeTemplate,
} from "../../model/last-applied.ts";
import type { Node } from "../../model/node-objects.ts";
import type { Reason } from "../../model/decision.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { withoutScaleDown } from "../preservation/preserved-node.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { isFirstJoin, taintText, templateTaints, unsetStartupTaints } from "../../model/node-taints.ts";
import { isSameTaints, mergeTaints, removedTaints, taintId } from "./merge-taints.ts";
import { planRemovedTaints } from "./plan-removed-taints.ts";
import { type Texts, type TextsPatch, threeWayPatch } from "./three-way.ts";
import { capacityChange, virtualCapacityOf } from "./virtual-capacity.ts";

type PatchNode = Extract<MachineAction, { readonly kind: "PatchNode" }>;

/** Whether the node needs our finalizer. Nodes that are not managed get none. */
const needsFinalizer = ({ metadata }: Node): boolean =>
  metadata.annotations?.[annotationKeys.notManaged] === undefined &&
  metadata.finalizers?.includes(finalizers.node) !== true;

/** Whether two maps are equal. */
const isSame = (a: Texts, b: Texts): boolean => threeWayPatch(a, a, b) === undefined;

const isRecorded = ({ value, isUnreadable }: LastApplied<AppliedTemplate>, template: AppliedTemplate): boolean =>
  !isUnreadable &&
  isSame(value.labels, template.labels) &&
  isSame(value.annotations, template.annotations) &&
  isSameTaints(value.taints, template.taints);

/**
 * The template to apply. An invalid template is ignored, as if it had not changed: the API server would reject each patch,
 * including the machine's name. Startup taints are only set on a node that has not served yet: its agent may never remove one that comes later.
 */
function desiredTemplate(
  { machine, problems }: MachineSnapshot,
  unset: readonly Taint[],
  last: AppliedTemplate,
): AppliedTemplate {
  const isCreationRejected = problems.some(({ path }) => path.startsWith("spec.nodeTemplate"));
  if (isCreationRejected) return last;
  const applied = appliedPart(machine.spec.nodeTemplate);
  const template = { ...applied, taints: templateTaints(applied.taints) };
  if (isFirstJoin(machine)) return template;
  return { ...template, taints: template.taints.filter((taint) => !unset.includes(taint)) };
}

/**
 * One patch with all differences. A list of taints replaces the observed one, so it requires the observed version of the node. Without it the finalizer is
 * added to the list by a strategic merge patch, for any version of the same node: its kubelet and other clients write a node that has just joined. The last-applied
 * annotation is written in the same request as the change.
 */
function nodePatch(
  node: Node,
  labels: TextsPatch | undefined,
  annotations: TextsPatch | undefined,
  taints: readonly object[] | undefined,
): Pick<PatchNode, "patch" | "merge"> | undefined {
  const isAdded = needsFinalizer(node);
  if (labels === undefined && annotations === undefined && taints === undefined && !isAdded) return undefined;
  const { resourceVersion, uid } = node.metadata;
  const texts = {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  if (taints === undefined)
    return isAdded
      ? { patch: { metadata: { ...texts, finalizers: [finalizers.node], uid } }, merge: "strategic" }
      : { patch: { metadata: texts } };
  const held = isAdded ? { finalizers: [...(node.metadata.finalizers ?? []), finalizers.node] } : {};
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { patch: { metadata: { ...texts, ...held, ...version }, spec: { taints } } };
}

const unreadable = (node: Node, key: string): Reason => ({
  type: "Warning",
  reason: machineEventReasons.invalidLastAppliedAnnotation,
  message: `Annotation ${key} of Node ${node.metadata.name} cannot be read and will be reset; fields applied before are kept`,
});

/** The marks that the deployment would write next, unless the template has one of its own. */
const scalerAnnotations = ({ nodeSync }: MachineSnapshot, node: Node, { annotations }: AppliedTemplate): TextsPatch =>
  nodeSync?.isKeptFromScaler === true && annotations[annotationKeys.scaleDownDisabled] === undefined
    ? withoutScaleDown(node)
    : {};

/** The taints of a node, without the one that kept pods off until the template is there. `undefined` when nothing changes. */
function withTemplate(live: readonly Taint[], merged: readonly Taint[] | undefined): readonly Taint[] | undefined {
  const taints = merged ?? live;
  const kept = templateTaints(taints);
  return kept.length === taints.length ? merged : kept;
}

/** Pods and the autoscaler may have used the node before its labels and taints are there. */
function registeredOpen({ nodeSync }: MachineSnapshot, node: Node): readonly Reason[] {
  const key = taintKeys.templatePending;
  if (nodeSync?.isAutoscaled !== true || node.spec?.taints?.some((taint) => taint.key === key) === true) return [];
  const message = `Node ${node.metadata.name} registered without taint ${taintText({ key, effect: taintEffects.noSchedule })}: until its labels and taints are there, pods may start on it that do not belong there, and the cluster autoscaler may scale the group once more. Add the taint to the kubelet's registration in the user data`;
  return [{ type: "Warning", reason: machineEventReasons.nodeWithoutStartupTaint, message }];
}

/** Another machine owns the node; reported once. */
function contested({ machine, link, reported }: MachineSnapshot, node: Node): MachineDecision {
  const message = `Node ${node.metadata.name} belongs to machine ${link.competingMachines.join(", ")}; machine ${machine.metadata.name} does not change it`;
  if (message === reported.get(machineEventReasons.nodeClaimedTwice)) return nothing;
  return { actions: [], because: [{ type: "Warning", reason: machineEventReasons.nodeClaimedTwice, message }] };
}

/**
 * Applies the template of a machine to its node (MCM, `pkg/util/provider/machinecontroller/machine_util.go` syncNodeTemplates): name of the machine, labels, annotations and taints three-way, the
 * finalizer, and the virtual capacity of the class. At most one patch of the node and one of its status; none when nothing differs.
 */
export function decideNodeSync(snapshot: MachineSnapshot): MachineDecision {
  const { machine, node, classView, nodeSync: { restoredTaints = new Map() } = {} } = snapshot;
  // A terminating node accepts no finalizer and needs no changes.
  if (node === undefined || node.metadata.deletionTimestamp != null) return nothing;
  if (snapshot.link.competingMachines.length > 0) return contested(snapshot, node);
  const { name } = node.metadata;
  const live = node.metadata.annotations;
  const last = readLastTemplate(live);
  const unset = unsetStartupTaints(machine, node);
  const template = desiredTemplate(snapshot, unset, last.value);
  // An unusable class has no known capacity: the current one is kept.
  const change =
    classView.state === "usable" && classView.unmetPrecondition?.reason !== machineEventReasons.invalidMachineClass
      ? capacityChange(live, node.status?.capacity, virtualCapacityOf(classView.machineClass))
      : undefined;

  const labels = threeWayPatch(node.metadata.labels, last.value.labels, {
    ...template.labels,
    [labelKeys.machineName]: machine.metadata.name,
  });
  const books: TextsPatch = {
    ...(isRecorded(last, template) ? {} : { [annotationKeys.lastAppliedNodeTemplate]: writeTemplate(template) }),
    ...(change?.applied === undefined
      ? {}
      : { [annotationKeys.lastAppliedVirtualCapacity]: writeCapacity(change.applied) }),
  };
  const annotations = {
    ...scalerAnnotations(snapshot, node, template),
    ...threeWayPatch(live, last.value.annotations, template.annotations),
    ...books,
  };
  const lists = { live: node.spec?.taints ?? [], applied: last.value.taints, desired: template.taints };
  // An agent removes startup taints, and may change them: they are set once.
  const left = template.taints.filter(
    (taint) => isStartupTaint(taint, machine.metadata.annotations) && !unset.includes(taint),
  );
  const removed = removedTaints(lists).filter((taint) => !left.includes(taint));
  const { restored, deferred, requeueAfterMs, because } = planRemovedTaints(removed, restoredTaints, machine, node);
  const taints = withTemplate(lists.live, mergeTaints(lists, [...left, ...deferred]));
  const restores = restored.length === 0 ? {} : { restores: restored.map(taintId) };
  const patch = nodePatch(node, labels, Object.keys(annotations).length === 0 ? undefined : annotations, taints);

  const actions: MachineAction[] = [
    ...(patch === undefined ? [] : [{ kind: "PatchNode" as const, name, ...patch, ...restores }]),
    ...(change?.capacity === undefined
      ? []
      : [{ kind: "PatchNodeStatus" as const, name, patch: { capacity: change.capacity } }]),
  ];
  const events = [
    ...(last.isUnreadable ? [unreadable(node, annotationKeys.lastAppliedNodeTemplate)] : []),
    ...(change?.isUnreadable === true ? [unreadable(node, annotationKeys.lastAppliedVirtualCapacity)] : []),
    ...(patch === undefined ? [] : registeredOpen(snapshot, node)),
    ...because,
  ];
  return { actions, because: events, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
}
