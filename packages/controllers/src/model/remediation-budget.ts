import {
  annotationKeys,
  type IntOrPercent,
  labelKeys,
  type Machine,
  type MachineDeployment,
  type MachinePhase,
  machineSetResource,
  parseIntOrPercent,
  phaseOf,
  readIntOrPercent,
  readOperation,
} from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import { isProtected } from "./deletion-protection.ts";
import { unhealthyConditions } from "./node-health.ts";
import { isDeleting, isPreserved } from "./phase.ts";

/**
 * The group that shares a remediation budget (MCM, `pkg/util/provider/machinecontroller/machine_util.go` tryMarkingMachineFailed): the machines of a deployment, by the label `name`, whichever set they belong to. Machines without that
 * label share the budget of their set, those without set that of their class, since a budget for a single machine protects nothing. The key is readable, since it is shown in messages.
 */
export function remediationGroupOf({ metadata, spec }: Pick<Machine, "metadata" | "spec">): string {
  const deployment = metadata.labels?.[labelKeys.name] ?? "";
  if (deployment !== "") return `deployment ${deployment}`;
  const owner = controllerRefOf({ metadata });
  return owner?.kind === machineSetResource.kind ? `set ${owner.name}` : `class ${spec.class?.name ?? ""}`;
}

/** The machine is not in service yet: phases that always count. */
const inCreation: ReadonlySet<string | undefined> = new Set(["", "Pending", "CrashLoopBackOff"]);

/** Whether a machine has not joined in time and waits for the remediation of others. */
export const isJoinHeld = (machine: Machine): boolean =>
  phaseOf(machine) === "Pending" && readOperation(machine.status).reason === "JoinOnHold";

/** Whether a machine has no VM because its cloud has no room for it: that means nothing for the machines that have one. */
export const waitsForQuota = (machine: Machine): boolean =>
  phaseOf(machine) === "CrashLoopBackOff" && readOperation(machine.status).code === "ResourceExhausted";

/** Phases from which a machine can become Failed, or recover, by its node's health alone. */
const unhealthyPhases: ReadonlySet<MachinePhase | undefined> = new Set<MachinePhase | undefined>([
  "Unknown",
  "Failed",
  "InPlaceUpdateFailed",
  "InPlaceUpdateSuccessful",
]);

/** Whether a machine may become Failed, or recover, when the remediation of others allows it. */
export const isUnhealthy = (machine: Machine): boolean => unhealthyPhases.has(phaseOf(machine)) || isJoinHeld(machine);

/**
 * Whether a machine is part of an in-flight remediation, as far as the objects show:
 *
 * - Failed: it is about to be deleted, unless it is preserved or protected from deletion;
 * - terminating and not protected, unless it was healthy before: then its deployment is scaled down or rolled out, which is not a remediation;
 * - in creation: a replacement is unproven until it has joined. Replacements cannot be distinguished from machines of a
 *   scale-up, so both count, as in MCM. One that waits for the remediation of others, after its creation timeout, does not.
 *
 * MCM counts every phase but Running and Unknown: also Available, the phases of an in-place update, and healthy machines that are terminating.
 */
export function isInFlightRemediation(machine: Machine, nodeConditions: readonly string[], now: Date): boolean {
  const isKept = isProtected(machine);
  if (isDeleting(machine))
    return !isKept && unhealthyConditions(machine.status?.conditions ?? [], nodeConditions).length > 0;
  const phase = phaseOf(machine);
  if (phase === "Failed") return !isKept && !isPreserved(machine, now);
  return inCreation.has(phase) && !isJoinHeld(machine);
}

/** How many of `machines` may be remediated at once: a percentage is rounded down, but is at least one machine unless it is 0 %. */
export function replacementsAllowed(limit: IntOrPercent, machines: number): number {
  const parsed = parseIntOrPercent(limit);
  if (parsed === undefined || parsed.amount <= 0) return 0;
  return parsed.unit === "count" ? parsed.amount : Math.max(1, Math.floor((parsed.amount * machines) / 100));
}

/** How many machines of a group may be remediated at once, and why the annotation is invalid, if it is. */
export interface RemediationLimit {
  readonly limit: IntOrPercent;
  readonly note: string | undefined;
}

/** The limit of a deployment, else the setting; with a note when the annotation is invalid. */
export function remediationLimitOf(
  deployment: Pick<MachineDeployment, "metadata"> | undefined,
  setting: IntOrPercent,
): RemediationLimit {
  const written = deployment?.metadata.annotations?.[annotationKeys.maxInFlightRemediations];
  if (written === undefined) return { limit: setting, note: undefined };
  const limit = readIntOrPercent(written);
  if (limit !== undefined) return { limit, note: undefined };
  const found = JSON.stringify(written.slice(0, 40));
  const note = `annotation ${annotationKeys.maxInFlightRemediations} is ${found} where a whole number or a percentage is expected`;
  return { limit: setting, note };
}

/** The group of a machine to remediate. */
export interface RemediationBudgetView {
  /** The other machines of the group. */
  readonly peers: readonly Machine[];
  /** UIDs of peers whose remediation has started, and whose Failed phase is not in the cache yet. */
  readonly inFlight: readonly string[];
  readonly limit: IntOrPercent;
}

/** Whether one more machine of the group may be remediated now. */
export function hasRemediationBudget(
  { peers, inFlight, limit }: RemediationBudgetView,
  nodeConditions: readonly string[],
  now: Date,
): boolean {
  const allowed = replacementsAllowed(limit, peers.filter((peer) => !isDeleting(peer)).length + 1);
  let going = 0;
  for (const peer of peers) {
    if (going >= allowed) return false;
    if (inFlight.includes(peer.metadata.uid ?? "") || isInFlightRemediation(peer, nodeConditions, now)) going++;
  }
  return going < allowed;
}
