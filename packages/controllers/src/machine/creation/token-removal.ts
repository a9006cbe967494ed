import { phaseOf } from "@millwright/core";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { readIntent } from "../../model/creation-intent.ts";

/**
 * Adds the end of a bootstrap token to the decision that ends its use: the node has joined, or the machine goes (MCM, `pkg/util/provider/machinecontroller/userdata.go`). Where that
 * decision is lost the token expires by itself.
 */
export function withTokenRemoval(snapshot: MachineSnapshot, decision: MachineDecision): MachineDecision {
  const { machine, hasTarget } = snapshot;
  const { status } = decision;
  if (!hasTarget || status === undefined || readIntent(machine)?.bootstrapToken !== true) return decision;
  const [from, to] = [phaseOf(machine), phaseOf({ status })];
  const isJoined = to === "Running" && (from === "Pending" || from === "CrashLoopBackOff");
  const isGoing = to === "Terminating" && from !== "Terminating";
  return isJoined || isGoing
    ? { ...decision, actions: [...decision.actions, { kind: "RemoveBootstrapToken" }] }
    : decision;
}
