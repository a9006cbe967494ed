import { annotationKeys } from "../../wire/annotations.ts";
import { listedStartupTaints } from "../../wire/taints.ts";
import type { MachineSpec } from "../kinds/machine-spec.ts";
import type { Machine } from "../kinds/machine.ts";
import type { Taint } from "../kinds/node-template.ts";
import { type FieldProblem, joinPath, quoted } from "../problems/field-problem.ts";
import { readDrainRules } from "../values/drain-rules.ts";
import { longestLabelValue, labelKeyProblem, labelValueProblem } from "../values/label-syntax.ts";
import { countProblems, durationProblems, metadataProblems, requiredText } from "./validate-fields.ts";

const durations = [
  "creationTimeout",
  "drainTimeout",
  "healthTimeout",
  "inPlaceUpdateTimeout",
  "machinePreserveTimeout",
] as const;

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/**
 * Problems that keep a machine from being made; empty for a good one. MCM checks the class reference only; durations, counts
 * and the node template are checked here because they would fail later and further away. A machine that is being deleted
 * need not pass. Source: MCM, `pkg/apis/machine/validation/machine.go`.
 */
export function validateMachine(machine: Machine): readonly FieldProblem[] {
  return [
    ...machineNameProblems(machine.metadata.name),
    ...drainRuleProblems(machine.metadata),
    ...startupTaintProblems(machine.metadata.annotations, "metadata.annotations"),
    ...machineSpecProblems(machine.spec, "spec"),
  ];
}

/** Rules that cannot be read are ignored by the drain, years later as a rule: who writes them should know at once. */
function drainRuleProblems({ annotations }: Machine["metadata"]): readonly FieldProblem[] {
  const text = annotations?.[annotationKeys.drainRules];
  if (text === undefined) return [];
  const result = readDrainRules(text, joinPath("metadata.annotations", annotationKeys.drainRules));
  return result.ok ? [] : result.problems;
}

/**
 * Problems of the annotation that lists the keys of startup taints; empty without it.
 *
 * @param path that of the annotations of a machine or template
 */
export function startupTaintProblems(annotations: Machine["metadata"]["annotations"], path: string): FieldProblem[] {
  const wrong = listedStartupTaints(annotations).find((key) => labelKeyProblem(key) !== undefined);
  if (wrong === undefined) return [];
  const example = "node.cilium.io/agent-not-ready,example.com/gpu";
  const message = `must list keys of taints without value and effect, such as ${example}; ${quoted(wrong)} is not a key`;
  return [{ path: joinPath(path, annotationKeys.startupTaints), message, kind: "invalid" }];
}

/** Problems of the specification of a machine, in a machine or in a template. */
export function machineSpecProblems(spec: MachineSpec, path: string): FieldProblem[] {
  return [
    ...classProblems(spec.class, `${path}.class`),
    ...durationProblems(spec, durations, path),
    ...countProblems(spec, ["maxEvictRetries"], path),
    ...metadataProblems(spec.nodeTemplate?.metadata, `${path}.nodeTemplate.metadata`),
    ...(spec.nodeTemplate?.spec?.taints ?? []).flatMap((taint, index) =>
      taintProblems(taint, joinPath(`${path}.nodeTemplate.spec.taints`, index)),
    ),
  ];
}

/** The name becomes a label of the Node and, as a rule, the name of VM and Node. */
function machineNameProblems(name: string): FieldProblem[] {
  if (name.length <= longestLabelValue) return [];
  const message = `must have at most ${longestLabelValue} characters: it becomes a label of the Node`;
  return [{ path: "metadata.name", message, kind: "tooLong" }];
}

function classProblems(reference: MachineSpec["class"], path: string): FieldProblem[] {
  const kind = reference?.kind;
  return [
    ...requiredText(kind, `${path}.kind`, "the kind of the class, MachineClass"),
    ...(kind && kind !== "MachineClass"
      ? [{ path: `${path}.kind`, message: `must be MachineClass, is ${quoted(kind)}`, kind: "notSupported" as const }]
      : []),
    ...requiredText(reference?.name, `${path}.name`, "the name of a MachineClass in the same namespace"),
  ];
}

function taintProblems({ key, value = "", effect }: Taint, path: string): FieldProblem[] {
  const keyProblem = labelKeyProblem(key);
  const valueProblem = labelValueProblem(value);
  return [
    ...(keyProblem ? [{ path: `${path}.key`, message: keyProblem, kind: "invalid" as const }] : []),
    ...(valueProblem ? [{ path: `${path}.value`, message: valueProblem, kind: "invalid" as const }] : []),
    ...(effects.includes(effect)
      ? []
      : [
          {
            path: `${path}.effect`,
            message: `must be ${effects.join(", ")}, is ${quoted(effect)}`,
            kind: "notSupported" as const,
          },
        ]),
  ];
}
