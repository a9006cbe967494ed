import { annotationKeys, type Machine, type MachineSet, phaseOf } from "@millwright/core";
import { createMergePatch } from "@millwright/kube";
import { isDeleting } from "../machine/phase.ts";

/** Fields of a machine's spec that follow the template of its set without a new machine (machineset-machinedeployment.md, 4.6). */
const inPlaceFields = [
  "nodeTemplate",
  "drainTimeout",
  "healthTimeout",
  "creationTimeout",
  "inPlaceUpdateTimeout",
  "machinePreserveTimeout",
  "disableHealthTimeout",
  "maxEvictRetries",
  "nodeConditions",
] as const;

const pick = (spec: Machine["spec"]): Record<string, unknown> =>
  Object.fromEntries(inPlaceFields.map((field) => [field, spec?.[field]]).filter(([, value]) => value !== undefined));

/**
 * The merge patch that brings a machine's in-place fields to the template of its set, or `undefined` when they agree. Machines
 * that are broken or going are left as they are.
 */
export function templateDrift(set: MachineSet, machine: Machine): Readonly<Record<string, unknown>> | undefined {
  if (isDeleting(machine) || phaseOf(machine) === "Failed") return undefined;
  const wanted = pick(set.spec?.template?.spec);
  // The annotation, when there is one, was written into spec.creationTimeout at birth and beats the template.
  const hasOwnTimeout = machine.metadata.annotations?.[annotationKeys.effectiveCreationTimeout] !== undefined;
  const ownTimeout = machine.spec?.creationTimeout;
  if (hasOwnTimeout && ownTimeout !== undefined) wanted["creationTimeout"] = ownTimeout;
  const patch = createMergePatch(pick(machine.spec), wanted);
  return patch === undefined ? undefined : { spec: patch };
}
