import {
  clusterApiReasons as reasons,
  formatGoDuration,
  machineConditionTypes as types,
  nodeConditionTypes,
  phaseOf,
  terminatingReasons,
} from "@millwright/core";
import { cutText } from "../message-lines.ts";
import { findCondition } from "@millwright/kube";
import { isForReplacement } from "../../machine-lists/for-remediation.ts";
import { isDeleting } from "../../model/phase.ts";
import { remediationLimitOf } from "../../model/remediation-budget.ts";
import { healthTimeoutMs } from "../../model/timeouts.ts";
import { type ConditionOf, type MachineFacts, nodeConditionsOf, nodeOf, phaseSince, said, timeOf } from "./facts.ts";

/** What failed, by the operation that a Failed machine ended with. */
const failureReasons: ReadonlyMap<string, string> = new Map([
  ["HealthCheck", reasons.unhealthyNode],
  ["Create", reasons.nodeStartupTimeout],
]);

const failedCheck = (text: string): string => `Health check failed:\n  * ${cutText(text)}`;

/** Whether the machine has been Unknown for longer than it may, and waits for others of its deployment to be replaced first. */
function isOverdue(facts: MachineFacts, now: Date): boolean {
  const since = timeOf(phaseSince(facts));
  return (
    phaseOf(facts.machine) === "Unknown" &&
    facts.machine.spec.disableHealthTimeout !== true &&
    since !== undefined &&
    now.getTime() - since > healthTimeoutMs(facts)
  );
}

/** What the health check found, once it has: absent while a machine comes up, is updated, or may still recover. */
export const healthCheckSucceeded: ConditionOf = (facts, now) => {
  const { machine } = facts;
  const { type = "", description = "" } = machine.status?.lastOperation ?? {};
  const fail = (reason: string, text: string) =>
    said(types.healthCheckSucceeded, "False", reason, failedCheck(text), phaseSince(facts));
  const phase = phaseOf(machine);
  if (phase === "Running" || phase === "Available")
    return said(types.healthCheckSucceeded, "True", types.healthCheckSucceeded, "", phaseSince(facts));
  if (phase === "Failed") return fail(failureReasons.get(type) ?? reasons.unhealthyMachine, description);
  if (!isOverdue(facts, now)) return undefined;
  return fail(
    reasons.unhealthyNode,
    `Node conditions unhealthy for more than ${formatGoDuration(healthTimeoutMs(facts))}`,
  );
};

/** Whether the machine had failed before it was deleted: the node was told so. */
const failedBefore = (facts: MachineFacts): boolean =>
  findCondition(nodeConditionsOf(facts), nodeConditionTypes.terminating)?.reason === terminatingReasons.unhealthy;

/** What its owner does about a machine whose health check failed; absent for one that is well, and for one that is kept on purpose. */
export const ownerRemediated: ConditionOf = (facts, now) => {
  const { machine } = facts;
  const not = (reason: string, message: string) =>
    said(types.ownerRemediated, "False", reason, message, phaseSince(facts));
  if (isDeleting(machine)) {
    return phaseOf(machine) === "Failed" || failedBefore(facts)
      ? not(reasons.machineDeleting, "Machine is deleting")
      : undefined;
  }
  const node = nodeOf(facts);
  const nodes = new Map(node === undefined ? [] : [[machine.metadata.name, node]]);
  if (isForReplacement(machine, nodes, now)) return not(reasons.waitingForRemediation, "Waiting for remediation");
  if (!isOverdue(facts, now)) return undefined;
  const { limit } = remediationLimitOf(facts.deployment, facts.settings.maxInFlightRemediations);
  const text = `Waiting because there are already too many remediations in progress (${limit} per MachineDeployment)`;
  return not(reasons.remediationDeferred, text);
};
