import { annotationKeys, type FieldProblem, joinPath, type MachineDeployment } from "@millwright/core/machine-api";
import { readCanarySteps, readContinue } from "./canary-steps.ts";
import { readWindows } from "./maintenance-window.ts";

const problem = (key: string, message: string): FieldProblem => ({
  path: joinPath("metadata.annotations", key),
  message,
  kind: "invalid",
});

/** One of a few values, or absent. */
function wordProblem({ metadata }: MachineDeployment, key: string, words: readonly string[]): readonly FieldProblem[] {
  const text = metadata.annotations?.[key];
  if (text === undefined || words.includes(text)) return [];
  return [problem(key, `must be ${words.join(" or ")}, is "${text.slice(0, 40)}"`)];
}

/** An annotation that is to end a pause must be valid: ignored silently, it would leave the user waiting. */
function continueProblem(deployment: MachineDeployment): readonly FieldProblem[] {
  const { canaryContinue } = annotationKeys;
  const text = deployment.metadata.annotations?.[canaryContinue];
  if (text === undefined || readContinue(deployment) !== undefined) return [];
  return [
    problem(
      canaryContinue,
      `must be REVISION/STEP, as shown by condition RollingOut during a pause, is "${text.slice(0, 40)}"`,
    ),
  ];
}

/** Options of a RollingUpdate only: with another strategy they are rejected instead of being ignored. */
function strategyProblems({ metadata, spec }: MachineDeployment): readonly FieldProblem[] {
  const { annotations = {} } = metadata;
  const isRolling = (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
  const { canarySteps, onDelete } = annotationKeys;
  const asked = [canarySteps, ...(annotations[onDelete] === "true" ? [onDelete] : [])].filter(
    (key) => annotations[key] !== undefined,
  );
  if (!isRolling) return asked.map((key) => problem(key, "requires spec.strategy.type RollingUpdate"));
  return asked.length < 2 ? [] : [problem(onDelete, `cannot be combined with ${canarySteps}; remove one of them`)];
}

/** Problems of the annotations that extend the strategy of a deployment. */
export function rolloutOptionProblems(deployment: MachineDeployment): readonly FieldProblem[] {
  const { canarySteps, canaryOnFailure, maintenanceWindows, onDelete, honorMinReadySeconds } = annotationKeys;
  const steps = readCanarySteps(deployment);
  const windows = readWindows(deployment);
  return [
    ...(steps.ok ? [] : [problem(canarySteps, steps.problem)]),
    ...(windows.ok ? [] : [problem(maintenanceWindows, windows.problem)]),
    ...continueProblem(deployment),
    ...wordProblem(deployment, canaryOnFailure, ["stop", "rollback"]),
    ...wordProblem(deployment, onDelete, ["true", "false"]),
    ...wordProblem(deployment, honorMinReadySeconds, ["true", "false"]),
    ...strategyProblems(deployment),
  ];
}
