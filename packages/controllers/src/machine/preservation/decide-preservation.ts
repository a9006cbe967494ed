import {
  annotationKeys,
  machineEventReasons,
  type MachinePhase,
  phaseOf,
  preserveValues,
} from "@millwright/core/machine-api";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { isDeleting } from "../../model/phase.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { preserve } from "./preserve.ts";
import {
  isNodeInControl,
  type PreserveValue,
  preserveValueOf,
  preserveValueProblem,
  type PreserveAnnotations,
  preserveAnnotationsOf,
  isMarkedPreserved,
  stoppedState,
} from "../../model/preserve-value.ts";
import { setNodeCondition } from "../../model/node-condition.ts";
import { statusOf } from "../../model/status-change.ts";
import { markNode, preservedTaint, withScaleDown } from "./preserved-node.ts";

/** Why a preservation ends, and whether its request is removed. */
interface Stop {
  readonly why: string;
  /** Whether the annotations that request it are removed, so that it does not start again. */
  readonly forget: boolean;
}

/** Removes the preserve annotations of the machine; no action when there are none. */
function forgetOnMachine({ machine }: MachineSnapshot): readonly MachineAction[] {
  const keys = [annotationKeys.preserve, annotationKeys.lastAppliedNodePreserveValue].filter(
    (key) => machine.metadata.annotations?.[key] !== undefined,
  );
  if (keys.length === 0) return [];
  const annotations = Object.fromEntries(keys.map((key) => [key, null]));
  return [{ kind: "PatchMachine", patch: { metadata: { annotations } } }];
}

/** Whether there is something to undo: the expiry is set, or the node is marked, even if another controller removed the expiry. */
const hasTraces = ({ machine, node }: MachineSnapshot): boolean =>
  machine.status?.currentStatus?.preserveExpiryTime != null ||
  isMarkedPreserved(node) ||
  preservedTaint(node) !== undefined;

/**
 * Ends a preservation: the node's annotations and taint, its condition, the annotations of the machine, and last the expiry, so that an
 * interrupted end is repeated (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation). A cordon is kept.
 */
function stopPreservation(snapshot: MachineSnapshot, { why, forget }: Stop, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  const forgotten = forget ? forgetOnMachine(snapshot) : [];
  if (!hasTraces(snapshot)) return forgotten.length === 0 ? nothing : { actions: forgotten, because: [] };
  const actions: MachineAction[] = [];
  if (node !== undefined) {
    const requestRemoval = forget ? { [annotationKeys.preserve]: null } : {};
    // Taints first: their patch requires the observed version of the node, which the condition changes.
    actions.push(
      ...markNode(node, { annotations: { ...withScaleDown(node), ...requestRemoval }, isTainted: false }, now),
      ...setNodeCondition(node, stoppedState, now),
    );
  }
  actions.push(...forgotten);
  const message = `Machine is no longer preserved: ${why}`;
  const { currentStatus, ...rest } = statusOf(machine);
  const { preserveExpiryTime: _, ...kept } = currentStatus ?? {};
  return {
    actions,
    ...(currentStatus === undefined ? {} : { status: { ...rest, currentStatus: kept } }),
    because: [{ type: "Normal", reason: machineEventReasons.preservationStopped, message }],
  };
}

/** What to do for the effective value. */
type Plan = { readonly kind: "preserve"; readonly value: PreserveValue } | ({ readonly kind: "stop" } & Stop);

function planOf(value: PreserveValue | "", phase: MachinePhase | undefined, isExpired: boolean): Plan {
  const isFailed = phase === "Failed";
  if (value === "") return { kind: "stop", why: "no annotation requests it", forget: false };
  if (value === preserveValues.never) return { kind: "stop", why: "the annotation is false", forget: false };
  if (isExpired) return { kind: "stop", why: "it has expired", forget: true };
  if (value === preserveValues.now || isFailed) return { kind: "preserve", value };
  // `when-failed` also applies to the next failure, `auto-preserved` only to this one.
  return { kind: "stop", why: "it is no longer Failed", forget: value === preserveValues.autoPreserved };
}

/** When the node's annotation is effective, the machine records its value, and its own annotation is removed. */
function recordNodeValue(requested: PreserveAnnotations): readonly MachineAction[] {
  if (!isNodeInControl(requested)) return [];
  const value = requested.node ?? "";
  if (requested.machine === undefined && requested.lastApplied === value) return [];
  const annotations = {
    ...(requested.machine === undefined ? {} : { [annotationKeys.preserve]: null }),
    ...(requested.lastApplied === value
      ? {}
      : { [annotationKeys.lastAppliedNodePreserveValue]: value === "" ? null : value }),
  };
  return [{ kind: "PatchMachine", patch: { metadata: { annotations } } }];
}

/** The event about an invalid annotation, once per value. */
function invalidValueEvents(problem: string, { reported }: MachineSnapshot): MachineDecision["because"] {
  return reported.get(machineEventReasons.invalidPreserveValue) === problem
    ? []
    : [{ type: "Warning", reason: machineEventReasons.invalidPreserveValue, message: problem }];
}

/**
 * Preserves a machine for inspection, and ends the preservation (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation). The node's annotation overrides the machine's; an
 * empty one, unlike in MCM, ends the preservation. The deletion of a machine is never delayed by it.
 */
export function decidePreservation(seen: MachineSnapshot, now: Date): MachineDecision {
  // Two machines that both write to one node would revert each other forever.
  const snapshot = seen.link.competingMachines.length > 0 ? { ...seen, node: undefined } : seen;
  const { machine, node } = snapshot;
  if (isDeleting(machine)) return nothing;
  const requested = preserveAnnotationsOf(machine, node);
  const problem = preserveValueProblem(requested, machine.metadata.name);
  const events = problem === undefined ? [] : invalidValueEvents(problem, snapshot);
  const value = preserveValueOf(requested);
  if (value === undefined) return { actions: [], because: events };
  const expiry = machine.status?.currentStatus?.preserveExpiryTime;
  const isExpired = expiry != null && !(Date.parse(expiry) > now.getTime());
  const plan = planOf(value, phaseOf(machine), isExpired);
  const decision =
    plan.kind === "preserve" ? preserve(snapshot, plan.value, now) : stopPreservation(snapshot, plan, now);
  const isForgotten = plan.kind === "stop" && plan.forget;
  return {
    ...decision,
    actions: isForgotten ? decision.actions : [...decision.actions, ...recordNodeValue(requested)],
    because: [...events, ...decision.because],
  };
}
