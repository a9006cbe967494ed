import { formatGoDuration } from "@millwright/base";
import {
  clusterApiReasons as reasons,
  holdText,
  machineConditionTypes as types,
  nodeConditionTypes,
  phaseOf,
  readOperation,
  terminatingReasons,
} from "@millwright/core/machine-api";
import { findCondition, cutText } from "@millwright/kube";
import { isForReplacement } from "../../machine-lists/for-replacement.ts";
import { isDeleting } from "../../model/phase.ts";
import { remediationLimitOf } from "../../model/remediation-budget.ts";
import { healthTimeoutMs } from "../../model/timeouts.ts";
import {
  type ConditionOf,
  type MachineFacts,
  nodeConditionsOf,
  nodeOf,
  phaseSince,
  newCondition,
  timeOf,
} from "./facts.ts";

/** What failed, by the operation that a Failed machine ended with. */
const failureReasons: ReadonlyMap<string, string> = new Map([
  ["HealthCheck", reasons.unhealthyNode],
  ["Create", reasons.nodeStartupTimeout],
]);

const failedCheck = (text: string): string => `Health check failed:\n  * ${cutText(text)}`;

/** Whether the machine has been Unknown for longer than its timeout, and its remediation is deferred. */
function isOverdue(facts: MachineFacts, now: Date): boolean {
  const since = timeOf(phaseSince(facts));
  return (
    phaseOf(facts.machine) === "Unknown" &&
    facts.machine.spec.disableHealthTimeout !== true &&
    since !== undefined &&
    now.getTime() - since > healthTimeoutMs(facts)
  );
}

/** The result of the health check: absent while a machine is provisioning, is updated, or may still recover. */
export const healthCheckSucceeded: ConditionOf = (facts, now) => {
  const { machine } = facts;
  const { type = "", description = "" } = machine.status?.lastOperation ?? {};
  const fail = (reason: string, text: string) =>
    newCondition(types.healthCheckSucceeded, "False", reason, failedCheck(text), phaseSince(facts));
  const phase = phaseOf(machine);
  if (phase === "Running" || phase === "Available")
    return newCondition(types.healthCheckSucceeded, "True", types.healthCheckSucceeded, "", phaseSince(facts));
  if (phase === "Failed") return fail(failureReasons.get(type) ?? reasons.unhealthyMachine, description);
  if (!isOverdue(facts, now)) return undefined;
  return fail(
    reasons.unhealthyNode,
    `Node conditions unhealthy for more than ${formatGoDuration(healthTimeoutMs(facts))}`,
  );
};

/** Whether the machine had failed before it was deleted: recorded in a condition of the node. */
const failedBefore = (facts: MachineFacts): boolean =>
  findCondition(nodeConditionsOf(facts), nodeConditionTypes.terminating)?.reason === terminatingReasons.unhealthy;

/** The remediation by its owner after a failed health check; absent for a healthy machine, and for a preserved one. */
export const ownerRemediated: ConditionOf = (facts, now) => {
  const { machine } = facts;
  const not = (reason: string, message: string) =>
    newCondition(types.ownerRemediated, "False", reason, message, phaseSince(facts));
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
  // In an outage, and without an API server, nothing is in progress.
  const { hold: by = "Budget", zone = "" } = readOperation(machine.status);
  const text =
    by === "Budget"
      ? `Waiting because there are already too many remediations in progress (${limit} per MachineDeployment)`
      : holdText({ by, zone });
  return not(reasons.remediationDeferred, text);
};
