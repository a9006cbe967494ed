import { annotationKeys, labelKeys, type MachineDeployment, taintKeys } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, type Change } from "../../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../../testing/rollout-model.ts";
import { settle, transcribe } from "../../testing/rollout-transcript.ts";

const ofClass = (name: string): Change<MachineDeployment> => ({ spec: { template: { spec: { class: { name } } } } });

const inPlace = (change: object = {}): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type: "InPlaceUpdate",
      rollingUpdate: null,
      inPlaceUpdate: { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto", ...change },
    },
  },
});

/** A deployment at rest, and then another template. */
function begun(...changes: readonly Change<MachineDeployment>[]): RolloutModel {
  const model = createRolloutModel(aMachineDeployment(...changes), { hasNodes: true });
  settle(model);
  model.change(ofClass("big"));
  return model;
}

describe("an update in place", () => {
  it("goes from node to node", () => {
    expect(transcribe(begun(inPlace()))).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 1 => small 2 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 2 (1 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 2 => small 1 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 3 => small 0 (0 serve), big 3 (3 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
  it("with surge", () => {
    expect(transcribe(begun(inPlace({ maxSurge: 1, maxUnavailable: 0 })))).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates
      - => small 3 (3 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 2 => small 2 (2 serve), big 2 (2 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 2 (2 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected
      - => small 2 (2 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 2 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 3 => small 1 (1 serve), big 3 (3 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 3 (3 serve) | nodes: 1 avoided, 4 kept, 1 candidates
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
  it("manual", () => {
    expect(
      transcribe(begun(inPlace({ orchestrationType: "Manual" })), {
        at: {
          3: (model) => {
            for (const node of model.nodes.all())
              model.nodes.changeUnseen(node.metadata.name, {
                metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } },
              });
            model.nodes.catchUp();
            return "a person selects all";
          },
        },
      }),
    ).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates
      * a person selects all
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 3 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 3 selected, 3 cordoned
      - => small 3 (0 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 3 selected, 3 cordoned
      Scaled down small to 0; Scaled up big to 3 => small 0 (0 serve), big 3 (3 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 3 selected, 3 cordoned
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
});
