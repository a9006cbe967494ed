import { annotationKeys, trueLabel, taintKeys } from "@millwright/core";
import { expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  annotated,
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

it("marks a node that joins, or was not marked, after its set was noted to be done, and no other again", () => {
  const deployment = aMachineDeployment(annotated({ [revision]: "2" }));
  const noted = { [preferNoSchedule]: trueLabel, [desiredReplicas]: "3" };
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
        ["b", aNode({ metadata: { name: "late", resourceVersion: "7" } })],
      ]),
      problems: [],
    }),
    now,
  );
  const patch = { metadata: { annotations: kept, resourceVersion: "7" }, spec: { taints: [avoided] } };
  expect(actions.filter(({ kind }) => kind === "PatchNodes")).toEqual([
    { kind: "PatchNodes", nodes: [{ name: "late", patch }] },
  ]);
});
