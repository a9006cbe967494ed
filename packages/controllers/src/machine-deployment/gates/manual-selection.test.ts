import { labelKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { begunRollout } from "../../testing/begun-rollout.ts";
import type { Change } from "../../testing/builders.ts";
import type { RolloutModel } from "../../testing/rollout-model.ts";
import { settle, transcribe } from "../../testing/rollout-transcript.ts";

const inPlace = (orchestrationType: "Auto" | "Manual"): Change<MachineDeployment> => ({
  spec: {
    progressDeadlineSeconds: 20,
    strategy: { type: "InPlaceUpdate", rollingUpdate: null, inPlaceUpdate: { maxUnavailable: 1, orchestrationType } },
  },
});
const begun = (orchestrationType: "Auto" | "Manual"): RolloutModel =>
  begunRollout({ hasNodes: true }, inPlace(orchestrationType));
const progress = (model: RolloutModel): string => {
  const { status, message } = model.deployment().status?.conditions?.find(({ type }) => type === "Progressing") ?? {};
  return `${status} ${message}`;
};

it("reports that users have to select the nodes while one is not selected, and the deadline does not apply", () => {
  const model = begun("Manual");
  transcribe(model, { rounds: 20 });
  expect(progress(model)).toMatch(
    /^True .* waits: Nodes are updated once they have label \S+selected-for-update=true$/,
  );
  const label = { metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } };
  for (const { metadata } of model.nodes.all()) model.nodes.changeUnseen(metadata.name, label);
  model.nodes.catchUp();
  transcribe(model, { rounds: 1 });
  expect(progress(model)).not.toContain("waits");
  settle(model);
  expect(progress(model)).toContain("has successfully progressed");
});

it("reports no wait when the controller selects the nodes", () => {
  const model = begun("Auto");
  transcribe(model, { rounds: 2 });
  expect(progress(model)).not.toContain("waits");
});
