import { annotationKeys, type Machine, type MachineSet, parseGoDuration, phaseOf } from "@millwright/core";
import { createMergePatch } from "@millwright/kube";
import { isDeleting } from "../machine/phase.ts";

/** Fields of a machine's spec that follow the template of its set without a new machine, beside `class.kind` (machineset-machinedeployment.md, 4.6). */
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
  const template = set.spec?.template?.spec;
  const current = pick(machine.spec);
  const wanted = pick(template);
  // The annotation, when it reads as a duration, was written into spec.creationTimeout at birth and beats the template.
  const ownTimeout = parseGoDuration(machine.metadata.annotations?.[annotationKeys.effectiveCreationTimeout] ?? "");
  if (ownTimeout !== undefined) wanted["creationTimeout"] = current["creationTimeout"];
  if (template?.class?.kind !== undefined) {
    current["class"] = { kind: machine.spec.class?.kind };
    wanted["class"] = { kind: template.class.kind };
  }
  const patch = createMergePatch(current, wanted);
  return patch === undefined ? undefined : { spec: patch };
}
