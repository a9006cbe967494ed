import { annotationKeys, type MachineDeployment, trueLabel, taintKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  annotated,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { decideMachineDeployment } from "./decide.ts";

const now = new Date("2026-01-02T00:00:00Z");
const { preferNoSchedule, desiredReplicas, revision, scaleDownDisabled, scaleDownDisabledByController } =
  annotationKeys;
const avoided = { key: taintKeys.preferNoSchedule, value: trueLabel, effect: "PreferNoSchedule" };
const kept = { [scaleDownDisabled]: "true", [scaleDownDisabledByController]: "true" };

/** The patches of nodes of a rollout: node `marked` has the marks of old nodes, and node `late` none. */
function patchesOf(change: Change<MachineDeployment> = {}, joined = "2026-01-01T12:00:00Z", isNoted = true) {
  const deployment = aMachineDeployment(annotated({ [revision]: "2" }), change);
  const noted = { ...(isNoted ? { [preferNoSchedule]: trueLabel } : {}), [desiredReplicas]: "3" };
  const old = aMachineSet(named("old"), ownedBy(deployment), annotated(noted), {
    spec: { replicas: 2, template: { spec: { class: { name: "old" } } } },
  });
  const fresh = aMachineSet(named("new"), ownedBy(deployment), annotated({ [revision]: "2", [desiredReplicas]: "3" }), {
    spec: { replicas: 1 },
  });
  const machine = (name: string) => aMachine(named(name), inPhase("Running"));
  const marked = aNode({ metadata: { name: "marked", annotations: kept }, spec: { taints: [avoided] } });
  const { actions } = decideMachineDeployment(
    deploymentSnapshot({
      deployment,
      claim: { owned: [old, fresh], adopt: [], release: [] },
      machines: new Map([
        ["uid-old", [machine("a"), machine("b")]],
        ["uid-new", [aMachine(named("c"), inPhase("Pending"))]],
      ]),
      nodes: new Map([
        ["a", marked],
        ["b", aNode({ metadata: { name: "late", resourceVersion: "7", creationTimestamp: joined } })],
      ]),
      problems: [],
    }),
    now,
  );
  return actions.flatMap((action) => (action.kind === "PatchNodes" ? action.nodes : []));
}

const patch = { metadata: { annotations: kept, resourceVersion: "7" }, spec: { taints: [avoided] } };

it("marks a node that joins, or was not marked, after its set was noted to be done, and no other again", () => {
  expect(patchesOf()).toEqual([{ name: "late", patch }]);
});

const noon = "2026-01-01T12:00:00Z";
const pausedSince = (lastTransitionTime: string): Change<MachineDeployment> => ({
  spec: { paused: true },
  status: { conditions: [{ type: "Progressing", status: "Unknown", reason: "DeploymentPaused", lastTransitionTime }] },
});
const pausedAfterDeadline: Change<MachineDeployment> = {
  spec: { paused: true },
  status: {
    conditions: [
      { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", lastTransitionTime: noon },
      { type: "Paused", status: "True", reason: "Paused", lastTransitionTime: noon },
    ],
  },
};

it.each<[string, ReturnType<typeof patchesOf>, boolean]>([
  ["that joins while the rollout is paused", patchesOf(pausedSince(noon), noon), true],
  ["the same after the deadline", patchesOf(pausedAfterDeadline, "2026-01-01T12:05:00Z"), true],
  ["that was there before the pause", patchesOf(pausedSince(noon), "2026-01-01T11:59:59Z"), false],
  ["of a rollout that was paused before it began", patchesOf(pausedSince(noon), noon, false), false],
  ["whose pause is not recorded yet", patchesOf({ spec: { paused: true } }, noon), false],
])("marks a node %s: %3$s", (_, patches, isMarked) => {
  expect(patches).toEqual(isMarked ? [{ name: "late", patch }] : []);
});
