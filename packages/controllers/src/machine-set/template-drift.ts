import { parseGoDuration } from "@millwright/base";
import { annotationKeys, type Machine, type MachineSet, type MachineTemplate } from "@millwright/core/machine-api";
import { createMergePatch, equalJson } from "@millwright/kube";
import { isDeleting, isFailed } from "../model/phase.ts";
import type { MachinePredicate } from "../machine-lists/machine-list.ts";

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

type Patch = Readonly<Record<string, unknown>>;

/** Whether a machine differs from a template; see {@link templateDrift}. */
export const driftsFrom =
  (template: MachineTemplate): MachinePredicate =>
  (machine) =>
    driftOf(template, machine) !== undefined;

/**
 * The merge patch that brings a machine's in-place fields to the template of its set, or `undefined` when they agree. Failed
 * and terminating machines are not changed.
 */
export const templateDrift = ({ spec: { template } }: MachineSet, machine: Machine): Patch | undefined =>
  driftOf(template, machine);

function driftOf({ spec: template }: MachineTemplate, machine: Machine): Patch | undefined {
  if (isDeleting(machine) || isFailed(machine)) return undefined;
  const { metadata, spec } = machine;
  const different = inPlaceFields.filter((field) => !equalJson(spec?.[field], template?.[field]));
  const kind = template?.class?.kind;
  if (different.length === 0 && (kind === undefined || kind === spec?.class?.kind)) return undefined;
  // The annotation, when it reads as a duration, was written into spec.creationTimeout at creation and takes precedence over the template.
  const hasOwnTimeout =
    parseGoDuration(metadata.annotations?.[annotationKeys.effectiveCreationTimeout] ?? "") !== undefined;
  const fields = different.filter((field) => field !== "creationTimeout" || !hasOwnTimeout);
  const pick = (from: Machine["spec"], ofClass: string | undefined): Record<string, unknown> => ({
    ...Object.fromEntries(fields.map((field) => [field, from?.[field]])),
    ...(kind === undefined ? {} : { class: { kind: ofClass } }),
  });
  const patch = createMergePatch(pick(spec, spec?.class?.kind), pick(template, kind));
  return patch === undefined ? undefined : { spec: patch };
}
