import { annotationKeys, finalizers, labelKeys, machineEventReasons } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { Reason } from "../../model/decision.ts";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import {
  type AppliedTemplate,
  appliedPart,
  type LastApplied,
  readLastTemplate,
  writeCapacity,
  writeTemplate,
} from "./last-applied.ts";
import { isSameTaints, mergeTaints } from "./merge-taints.ts";
import { type Texts, type TextsPatch, threeWayPatch } from "./three-way.ts";
import { capacityChange, virtualCapacityOf } from "./virtual-capacity.ts";

/** Whether the node has to be kept until its machine has let go of it. Nobody's node is not ours to hold. */
const needsFinalizer = ({ metadata }: Node): boolean =>
  metadata.annotations?.[annotationKeys.notManaged] === undefined &&
  metadata.finalizers?.includes(finalizers.node) !== true;

/** Whether one map holds exactly what the other does. */
const isSame = (a: Texts, b: Texts): boolean => threeWayPatch(a, a, b) === undefined;

const isRecorded = ({ value, isUnreadable }: LastApplied<AppliedTemplate>, template: AppliedTemplate): boolean =>
  !isUnreadable &&
  isSame(value.labels, template.labels) &&
  isSame(value.annotations, template.annotations) &&
  isSameTaints(value.taints, template.taints);

/**
 * What to put on the node. A template that no node could carry is left alone, as if it had not changed: the API server would refuse it in every pass,
 * and the machine's own name with it.
 */
function desiredTemplate({ machine, problems }: MachineSnapshot, last: AppliedTemplate): AppliedTemplate {
  const isRefused = problems.some(({ path }) => path.startsWith("spec.nodeTemplate"));
  return isRefused ? last : appliedPart(machine.spec.nodeTemplate);
}

/**
 * One merge patch with all that differs. Lists are replaced whole by it, so a patch that touches taints or finalizers holds only for the version of the
 * node that it was computed from. What was applied is recorded in the same request as the change that it describes.
 */
function nodePatch(
  node: Node,
  labels: TextsPatch | undefined,
  annotations: TextsPatch | undefined,
  taints: readonly object[] | undefined,
): object | undefined {
  const held = needsFinalizer(node) ? [...(node.metadata.finalizers ?? []), finalizers.node] : undefined;
  if (labels === undefined && annotations === undefined && taints === undefined && held === undefined) return undefined;
  const { resourceVersion } = node.metadata;
  const replacesLists = taints !== undefined || held !== undefined;
  return {
    metadata: {
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(held === undefined ? {} : { finalizers: held }),
      ...(replacesLists && resourceVersion !== undefined ? { resourceVersion } : {}),
    },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
}

const unreadable = (node: Node, key: string): Reason => ({
  type: "Warning",
  reason: machineEventReasons.invalidLastAppliedAnnotation,
  message: `Annotation ${key} of Node ${node.metadata.name} cannot be read; it is written anew, and nothing that was applied before is removed`,
});

/** Another machine looks after the node; it is told once. */
function contested({ machine, competingMachines, reported }: MachineSnapshot, node: Node): MachineDecision {
  const message = `Node ${node.metadata.name} is that of machine ${competingMachines.join(", ")}; machine ${machine.metadata.name} leaves it alone`;
  if (message === reported.get(machineEventReasons.nodeClaimedTwice)) return nothing;
  return { actions: [], because: [{ type: "Warning", reason: machineEventReasons.nodeClaimedTwice, message }] };
}

/**
 * Keeps the node of a machine as its template wants it (MCM, `pkg/util/provider/machinecontroller/machine_util.go` syncNodeTemplates): name of the machine, labels, annotations and taints three-way, the
 * finalizer, and the virtual capacity of the class. At most one patch of the node and one of its status, and none when all is well.
 */
export function decideNodeSync(snapshot: MachineSnapshot): MachineDecision {
  const { machine, node, classView } = snapshot;
  // A node that goes takes no finalizer any more, and needs nothing else.
  if (node === undefined || node.metadata.deletionTimestamp != null) return nothing;
  if (snapshot.competingMachines.length > 0) return contested(snapshot, node);
  const { name } = node.metadata;
  const live = node.metadata.annotations;
  const last = readLastTemplate(live);
  const template = desiredTemplate(snapshot, last.value);
  // A class that cannot be read says nothing about capacity: what is there stays.
  const change =
    classView.state === "usable"
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
  const annotations = { ...threeWayPatch(live, last.value.annotations, template.annotations), ...books };
  const taints = mergeTaints(node.spec?.taints ?? [], last.value.taints, template.taints);
  const patch = nodePatch(node, labels, Object.keys(annotations).length === 0 ? undefined : annotations, taints);

  const actions: MachineAction[] = [
    ...(patch === undefined ? [] : [{ kind: "PatchNode" as const, name, patch }]),
    ...(change?.capacity === undefined
      ? []
      : [{ kind: "PatchNodeStatus" as const, name, patch: { capacity: change.capacity } }]),
  ];
  const because = [
    ...(last.isUnreadable ? [unreadable(node, annotationKeys.lastAppliedNodeTemplate)] : []),
    ...(change?.isUnreadable === true ? [unreadable(node, annotationKeys.lastAppliedVirtualCapacity)] : []),
  ];
  return { actions, because };
}
