import { phaseOf } from "@millwright/core";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { readIntent } from "../../model/creation-intent.ts";

/**
 * Adds the removal of the bootstrap token to the decision after which it is unused: the node joined, or the machine is terminating (MCM, `pkg/util/provider/machinecontroller/userdata.go`). When that
 * decision is lost, the token expires.
 */
export function withTokenRemoval(snapshot: MachineSnapshot, decision: MachineDecision): MachineDecision {
  const { machine, hasTarget } = snapshot;
  const { status } = decision;
  if (!hasTarget || status === undefined || readIntent(machine)?.bootstrapToken !== true) return decision;
  const [from, to] = [phaseOf(machine), phaseOf({ status })];
  const isJoined = to === "Running" && (from === "" || from === "Pending" || from === "CrashLoopBackOff");
  const isTerminating = to === "Terminating" && from !== "Terminating" && decision.isStatusBrief !== true;
  return isJoined || isTerminating
    ? { ...decision, actions: [...decision.actions, { kind: "RemoveBootstrapToken" }] }
    : decision;
}
