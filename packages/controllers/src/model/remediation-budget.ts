import {
  annotationKeys,
  type IntOrPercent,
  labelKeys,
  type Machine,
  type MachineDeployment,
  machineSetResource,
  parseIntOrPercent,
  phaseOf,
  readIntOrPercent,
} from "@millwright/core";
import { controllerRefOf } from "@millwright/kube";
import { unhealthyConditions } from "./node-health.ts";
import { isDeleting, isPreserved } from "./phase.ts";

/**
 * What shares one replacement gate (MCM, `pkg/util/provider/machinecontroller/machine_util.go` tryMarkingMachineFailed): the machines of a deployment, by the label `name`, whichever set they belong to. A machine without that
 * label shares it with those of its set, one without set with those of its class, since a gate that nobody stands at protects nobody. The key is in words, for people read it.
 */
export function remediationGroupOf({ metadata, spec }: Pick<Machine, "metadata" | "spec">): string {
  const deployment = metadata.labels?.[labelKeys.name] ?? "";
  if (deployment !== "") return `deployment ${deployment}`;
  const owner = controllerRefOf({ metadata });
  return owner?.kind === machineSetResource.kind ? `set ${owner.name}` : `class ${spec.class?.name ?? ""}`;
}

/** The machine does not come back by itself, or is not there yet: phases that count whatever else is known. */
const inCreation: ReadonlySet<string | undefined> = new Set(["", "Pending", "CrashLoopBackOff"]);

/**
 * Whether a machine is part of a replacement that is going on, as far as the objects tell:
 *
 * - Failed: it is about to be deleted, unless it is preserved;
 * - on its way out, unless it was healthy when that began: then its deployment shrinks or is rolled out, and nothing is being repaired;
 * - in creation: whether what replaces a machine comes up is not known before it has joined. What makes up for a machine cannot be told from what a
 *   deployment grows by, so both count, as in MCM.
 *
 * MCM counts every phase but Running and Unknown: also Available, the phases of an update in place, and those that leave in good health.
 */
export function isInFlightRemediation(machine: Machine, nodeConditions: readonly string[], now: Date): boolean {
  if (isDeleting(machine)) return unhealthyConditions(machine.status?.conditions ?? [], nodeConditions).length > 0;
  const phase = phaseOf(machine);
  return phase === "Failed" ? !isPreserved(machine, now) : inCreation.has(phase);
}

/** How many of `machines` may be replaced at once: a percentage is rounded down, but is at least one machine unless it is 0 %. */
export function replacementsAllowed(limit: IntOrPercent, machines: number): number {
  const parsed = parseIntOrPercent(limit);
  if (parsed === undefined || parsed.amount <= 0) return 0;
  return parsed.unit === "count" ? parsed.amount : Math.max(1, Math.floor((parsed.amount * machines) / 100));
}

/** How many machines of a group may be replaced at once, and what is wrong with what somebody wrote about it. */
export interface RemediationLimit {
  readonly limit: IntOrPercent;
  readonly note: string | undefined;
}

/** The limit that a deployment asks for, else the one of the settings; with a note on what cannot be read. */
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

/** Who wants to pass the gate, and who else is there. */
export interface RemediationBudgetView {
  /** The other machines of the group. */
  readonly peers: readonly Machine[];
  /** UIDs of peers that have passed the gate, and whose Failed phase the cache does not show yet. */
  readonly inFlight: readonly string[];
  readonly limit: IntOrPercent;
}

/** Whether one more machine of the group may be replaced now. */
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
