import type { MachineDeployment } from "@millwright/core/machine-api";
import { aMachineDeployment, type Change } from "./builders.ts";
import { createRolloutModel, type RolloutModel, type RolloutModelOptions } from "./rollout-model.ts";
import { type Interference, settle } from "./rollout-transcript.ts";

/** What users change in a deployment: the class of its machines, their number. */
export const ofClass = (name: string): Change<MachineDeployment> => ({
  spec: { template: { spec: { class: { name } } } },
});
export const sized = (replicas: number): Change<MachineDeployment> => ({ spec: { replicas } });

/** A settled deployment of class `small` whose class is then changed to `big`. A round of the model takes three seconds. */
export function begunRollout(
  options: RolloutModelOptions,
  ...changes: readonly Change<MachineDeployment>[]
): RolloutModel {
  const model = createRolloutModel(aMachineDeployment(...changes), options);
  settle(model);
  model.change(ofClass("big"));
  return model;
}

/** A user changes the deployment during the rollout; the transcript shows this label. */
export const edit =
  (label: string, change: Change<MachineDeployment>): Interference =>
  (model) => {
    model.change(change);
    return label;
  };
