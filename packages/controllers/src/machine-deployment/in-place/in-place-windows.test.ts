import { annotationKeys, inPlaceUpdateReasons, labelKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { inPlaceReasonOf } from "../../model/in-place-state.ts";
import { aMachineDeployment, annotated, type Change } from "../../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../../testing/rollout-model.ts";
import { goWell, settle, transcribe } from "../../testing/rollout-transcript.ts";

const { maintenanceWindows } = annotationKeys;
const big: Change<MachineDeployment> = { spec: { template: { spec: { class: { name: "big" } } } } };
const inPlace = (maxSurge: number): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type: "InPlaceUpdate",
      rollingUpdate: null,
      inPlaceUpdate: { maxSurge, maxUnavailable: 1, orchestrationType: "Auto" },
    },
  },
});

/** A deployment that wants another template, with a window. The model begins at 2026-01-01T00:00:00Z, a round takes three seconds. */
function begun(window: string, ...changes: readonly Change<MachineDeployment>[]): RolloutModel {
  const model = createRolloutModel(aMachineDeployment(...changes, annotated({ [maintenanceWindows]: window })), {
    hasNodes: true,
  });
  settle(model);
  model.change(big);
  return model;
}
const classes = (model: RolloutModel) => model.machines().map(({ spec }) => spec.class?.name);

describe("an update in place in maintenance windows", () => {
  it.each([0, 1, 3])("neither selects a node nor makes a machine before one opens (surge %d)", (maxSurge) => {
    const model = begun("0 5 * * * 1h", inPlace(maxSurge));
    transcribe(model, { rounds: 20 });
    expect(classes(model)).toEqual(["small", "small", "small"]);
    expect(model.nodes.all().filter(({ metadata }) => metadata.labels?.[labelKeys.selectedForUpdate])).toEqual([]);
    model.change({ metadata: { annotations: { [maintenanceWindows]: null } } });
    settle(model);
    expect(classes(model)).toEqual(["big", "big", "big"]);
  });

  it("replaces a machine that is gone at any time, with one of the new template", () => {
    const model = begun("0 5 * * * 1h", inPlace(1));
    const [first] = model.machines();
    if (first === undefined) throw new Error("there are no machines");
    transcribe(model, { rounds: 5 });
    model.setPhase(first, "Failed");
    transcribe(model, { rounds: 10 });
    expect(classes(model)).toEqual(["small", "small", "big"]);
  });

  it("ends what it has begun when one closes", () => {
    const model = begun("0 0 * * * 1m", inPlace(0));
    const hasOldMachines = (): boolean =>
      model.nodes.all().some((node) => inPlaceReasonOf(node) === inPlaceUpdateReasons.selectedForUpdate);
    for (let round = 0; round < 20 && !hasOldMachines(); round++) transcribe(model, { rounds: 1 });
    expect(hasOldMachines()).toBe(true);
    model.change(annotated({ [maintenanceWindows]: "0 5 * * * 1h" }));
    transcribe(model, { rounds: 20, live: goWell });
    expect(classes(model).filter((name) => name === "big")).toHaveLength(1);
  });

  it.each([1, 2])("leaves no surge over when one closes (surge %d)", (maxSurge) => {
    const model = begun("0 0 * * * 1m", inPlace(maxSurge));
    const isSurging = (): boolean => classes(model).includes("big");
    for (let round = 0; round < 20 && !isSurging(); round++) transcribe(model, { rounds: 1 });
    model.change(annotated({ [maintenanceWindows]: "0 5 * * * 1h" }));
    transcribe(model, { rounds: 20 });
    expect(isSurging()).toBe(true);
    expect(classes(model)).toHaveLength(3);
    const before = classes(model);
    transcribe(model, { rounds: 20 });
    expect(classes(model)).toEqual(before);
    model.change({ metadata: { annotations: { [maintenanceWindows]: null } } });
    settle(model);
    expect(classes(model)).toEqual(["big", "big", "big"]);
  });
});
