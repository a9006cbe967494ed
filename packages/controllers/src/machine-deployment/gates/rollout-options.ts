import { annotationKeys, type FieldProblem, joinPath, type MachineDeployment } from "@millwright/core";
import { readCanarySteps, readContinue } from "./canary-steps.ts";
import { readWindows } from "./maintenance-window.ts";

const problem = (key: string, message: string): FieldProblem => ({
  path: joinPath("metadata.annotations", key),
  message,
  kind: "invalid",
});

/** One of a few words, or absent. */
function wordProblem({ metadata }: MachineDeployment, key: string, words: readonly string[]): readonly FieldProblem[] {
  const text = metadata.annotations?.[key];
  if (text === undefined || words.includes(text)) return [];
  return [problem(key, `must be ${words.join(" or ")}, is "${text.slice(0, 40)}"`)];
}

/** A word that ends a pause and cannot be read would leave whoever gave it waiting. */
function continueProblem(deployment: MachineDeployment): readonly FieldProblem[] {
  const { canaryContinue } = annotationKeys;
  const text = deployment.metadata.annotations?.[canaryContinue];
  if (text === undefined || readContinue(deployment) !== undefined) return [];
  return [
    problem(
      canaryContinue,
      `must be MACHINESET/STEP, as condition RollingOut says during a pause, is "${text.slice(0, 40)}"`,
    ),
  ];
}

/** What only a RollingUpdate can do; nothing is silently without effect. */
function strategyProblems({ metadata, spec }: MachineDeployment): readonly FieldProblem[] {
  const { annotations = {} } = metadata;
  const isRolling = (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
  const { canarySteps, onDelete } = annotationKeys;
  const asked = [canarySteps, ...(annotations[onDelete] === "true" ? [onDelete] : [])].filter(
    (key) => annotations[key] !== undefined,
  );
  if (!isRolling) return asked.map((key) => problem(key, "needs spec.strategy.type RollingUpdate; remove one of them"));
  return asked.length < 2 ? [] : [problem(onDelete, `cannot be had together with ${canarySteps}; remove one of them`)];
}

/** What is wrong with the annotations by which a deployment asks for more than its strategy does. */
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
