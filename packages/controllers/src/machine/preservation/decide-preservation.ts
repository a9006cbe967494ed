import { annotationKeys, machineEventReasons, type MachinePhase, phaseOf, preserveValues } from "@millwright/core";
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
} from "../../model/preserve-value.ts";
import { type Stop, stopPreservation } from "./stop-preservation.ts";

/** What follows from the value that counts. */
type Plan = { readonly kind: "preserve"; readonly value: PreserveValue } | ({ readonly kind: "stop" } & Stop);

function planOf(value: PreserveValue | "", phase: MachinePhase | undefined, isExpired: boolean): Plan {
  const isFailed = phase === "Failed";
  if (value === "") return { kind: "stop", why: "nothing asks for it", forget: false };
  if (value === preserveValues.never) return { kind: "stop", why: "the annotation says false", forget: false };
  if (isExpired) return { kind: "stop", why: "its time is over", forget: true };
  if (value === preserveValues.now || isFailed) return { kind: "preserve", value };
  // Who asks beforehand asks for the next failure, too; who asked on seeing one does not.
  return { kind: "stop", why: "it is not Failed any more", forget: value === preserveValues.autoPreserved };
}

/** Where the node decides, the machine remembers what it said, and says nothing of its own. */
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

/** What an annotation that means nothing leads to: one event that says what would. */
function invalidValueEvents(problem: string, { reported }: MachineSnapshot): MachineDecision["because"] {
  return reported.get(machineEventReasons.invalidPreserveValue) === problem
    ? []
    : [{ type: "Warning", reason: machineEventReasons.invalidPreserveValue, message: problem }];
}

/**
 * Keeps a machine that someone wants to look into, and lets it go again (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation). The node's annotation beats the machine's; an
 * empty one, unlike in MCM, says that preservation ends. The deletion of a machine asks nobody here.
 */
export function decidePreservation(seen: MachineSnapshot, now: Date): MachineDecision {
  // Two machines that both said what they want on one node would never come to rest.
  const snapshot = seen.competingMachines.length > 0 ? { ...seen, node: undefined } : seen;
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
