import {
  annotationKeys,
  type Machine,
  type MachineSet,
  type MachineTemplate,
  parseGoDuration,
  phaseOf,
} from "@millwright/core";
import { createMergePatch } from "@millwright/kube";
import { isDeleting } from "../model/phase.ts";
import { predicateFor } from "../machine-lists/machines-where.ts";

/** Fields of a machine's spec that follow the template of its set without a new machine, beside `class.kind` (MCM, `pkg/controller/deployment_util.go` EqualIgnoreHash). */
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

type Patch = Readonly<Record<string, unknown>>;

/** Objects are immutable, and a set has thousands of machines that match its template: the result is reused for the same pair. */
const found = new WeakMap<Machine, { readonly template: MachineTemplate; readonly patch: Patch | undefined }>();

/** Whether a machine differs from a template; see {@link templateDrift}. */
export const driftsFrom = predicateFor(
  (template: MachineTemplate) => (machine) => driftOf(template, machine) !== undefined,
);

/**
 * The merge patch that brings a machine's in-place fields to the template of its set, or `undefined` when they agree. Failed
 * and terminating machines are not changed.
 */
export const templateDrift = ({ spec: { template } }: MachineSet, machine: Machine): Patch | undefined =>
  driftOf(template, machine);

function driftOf(template: MachineTemplate, machine: Machine): Patch | undefined {
  const before = found.get(machine);
  if (before?.template === template) return before.patch;
  const patch = compare(template, machine);
  found.set(machine, { template, patch });
  return patch;
}

function compare({ spec: template }: MachineTemplate, machine: Machine): Patch | undefined {
  if (isDeleting(machine) || phaseOf(machine) === "Failed") return undefined;
  const current = pick(machine.spec);
  const wanted = pick(template);
  // The annotation, when it reads as a duration, was written into spec.creationTimeout at creation and takes precedence over the template.
  const ownTimeout = parseGoDuration(machine.metadata.annotations?.[annotationKeys.effectiveCreationTimeout] ?? "");
  if (ownTimeout !== undefined) wanted["creationTimeout"] = current["creationTimeout"];
  if (template?.class?.kind !== undefined) {
    current["class"] = { kind: machine.spec.class?.kind };
    wanted["class"] = { kind: template.class.kind };
  }
  const patch = createMergePatch(current, wanted);
  return patch === undefined ? undefined : { spec: patch };
}
