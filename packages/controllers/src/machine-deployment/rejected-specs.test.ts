import { annotationKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { findCondition } from "@millwright/kube";
import { decideMachineSet } from "../machine-set/decide.ts";
import { machineSetSnapshot } from "../machine-set/observe.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import { observeMachineDeployment } from "./observe.ts";

const now = new Date("2026-01-02T00:00:00Z");
const stale: Change<MachineDeployment> = { metadata: { generation: 5 }, status: { observedGeneration: 4 } };
const old = { spec: { template: { spec: { class: { name: "old" } } } } };

/** One pass over a deployment that has three machines of an old template. */
function passOver(change: Change<MachineDeployment>) {
  const deployment = aMachineDeployment(stale, change);
  const set = aMachineSet(named("old"), ownedBy(deployment), old);
  const machines = ["a", "b", "c"].map((name) => aMachine(named(name), inPhase("Running"), ownedBy(set)));
  const sources = { sets: [set], machinesOf: () => machines, nodesOf: () => new Map(), disablesScaleDown: true };
  return decideMachineDeployment(observeMachineDeployment(deployment, sources, now), now);
}

/** Paths of the fields that a condition reports. */
const pathsIn = (message = ""): readonly string[] =>
  [...message.matchAll(/^\* ([^:]+):/gm)].map(([, path = ""]) => path);

const rolling = (rollingUpdate: object): Change<MachineDeployment> => ({ spec: { strategy: { rollingUpdate } } });
const inPlace = (inPlaceUpdate: object): Change<MachineDeployment> => ({
  spec: { strategy: { type: "InPlaceUpdate", rollingUpdate: null, inPlaceUpdate } },
});
const templated = (template: object) => ({ spec: { template } });
const surge = "spec.strategy.rollingUpdate.maxSurge";
const unavailable = "spec.strategy.rollingUpdate.maxUnavailable";

// The rules of MCM, `pkg/apis/machine/validation/machinedeployment.go`, and specs that make MCM crash or loop.
describe("a deployment that is refused", () => {
  it.each<[string, Change<MachineDeployment>, readonly string[]]>([
    ["less than no replicas", { spec: { replicas: -1 } }, ["spec.replicas"]],
    ["an unknown strategy", { spec: { strategy: { type: "Canary" } } }, ["spec.strategy.type"]],
    ["a surge that is a number in words", rolling({ maxSurge: "5" }), [surge]],
    ["an unavailability that is a number in words", rolling({ maxUnavailable: "5" }), [unavailable]],
    ["a negative surge", rolling({ maxSurge: -1 }), [surge]],
    ["a negative unavailability", rolling({ maxUnavailable: "-5%" }), [unavailable]],
    ["no room to move at all", rolling({ maxSurge: 0, maxUnavailable: 0 }), ["spec.strategy.rollingUpdate"]],
    [
      "an in-place update without orchestration",
      inPlace({ maxSurge: 1, maxUnavailable: 0, orchestrationType: "" }),
      ["spec.strategy.inPlaceUpdate.orchestrationType"],
    ],
    [
      "an in-place update with unknown orchestration",
      inPlace({ maxSurge: 1, maxUnavailable: 0, orchestrationType: "auto" }),
      ["spec.strategy.inPlaceUpdate.orchestrationType"],
    ],
    ["no selector", { spec: { selector: null } }, ["spec.selector"]],
    ["a selector of everything", { spec: { selector: { matchLabels: null } } }, ["spec.selector"]],
    ["a selector of other machines", { spec: { selector: { matchLabels: { zone: "a" } } } }, ["spec.selector"]],
    [
      "a selector of a template hash",
      {
        spec: {
          selector: { matchLabels: { "machine-template-hash": "123" } },
          template: { metadata: { labels: { "machine-template-hash": "123" } } },
        },
      },
      ["spec.selector"],
    ],
    ["a class without a kind", templated({ spec: { class: { kind: "" } } }), ["spec.template.spec.class.kind"]],
    ["a class without a name", templated({ spec: { class: { name: "" } } }), ["spec.template.spec.class.name"]],
  ])("for %s changes nothing and is reported in a condition", (_, change, paths) => {
    const { actions, because, status } = passOver(change);
    expect(actions).toEqual([]);
    expect(because.map(({ reason }) => reason)).toEqual(["InvalidSpec"]);
    expect(pathsIn(findCondition(status?.conditions, "SpecValid")?.message)).toEqual(paths);
    expect(status).toMatchObject({ observedGeneration: 4, replicas: 3 });
  });
});

describe("a deployment that is followed", () => {
  it.each<[string, Change<MachineDeployment>, number]>([
    ["a surge in percent", rolling({ maxSurge: "30%" }), 1],
    ["a template with more labels than are selected", templated({ metadata: { labels: { more: "x" } } }), 1],
    ["no strategy", { spec: { strategy: null } }, 1],
    ["a strategy without a type", { spec: { strategy: { type: "", rollingUpdate: { maxSurge: 2 } } } }, 2],
    ["a strategy without numbers", { spec: { strategy: { rollingUpdate: null } } }, 1],
    ["a surge and nothing of unavailability", rolling({ maxSurge: 2, maxUnavailable: null }), 2],
    ["unavailability and nothing of a surge", rolling({ maxSurge: null, maxUnavailable: 2 }), 1],
    ["an update in place with nothing but who orchestrates it", inPlace({ orchestrationType: "Auto" }), 1],
  ])("with %s begins its rollout as large as its surge", (_, change, size) => {
    const { actions, status } = passOver(change);
    expect(actions.map((action) => [action.kind, "set" in action && action.set.spec.replicas])).toEqual([
      // The record of the rollout.
      ["PatchDeployment", false],
      ["CreateMachineSet", size],
    ]);
    expect(findCondition(status?.conditions, "SpecValid")?.status).toBe("True");
    expect(status?.observedGeneration).toBe(5);
  });
});

describe("a deployment with invalid options of its rollout", () => {
  const misspelt = annotated({ [annotationKeys.canarySteps]: "half" });

  it("begins no rollout and reports the option", () => {
    const { actions, because, status } = passOver({ ...misspelt, spec: { replicas: 3 } });
    expect(actions.filter(({ kind }) => kind === "CreateMachineSet")).toEqual([]);
    expect(because.map(({ reason }) => reason)).toEqual(["InvalidSpec"]);
    const path = `metadata.annotations[${annotationKeys.canarySteps}]`;
    expect(pathsIn(findCondition(status?.conditions, "SpecValid")?.message)).toEqual([path]);
    expect(status).toMatchObject({ observedGeneration: 4, replicas: 3 });
  });

  it.each([0, 2, 5])("is scaled to %d nevertheless", (replicas) => {
    const { actions, because } = passOver({ ...misspelt, spec: { replicas } });
    expect(actions).toMatchObject([{ kind: "PatchMachineSet", name: "old", patch: { spec: { replicas } } }]);
    expect(because.map(({ reason }) => reason)).toEqual(["InvalidSpec", "ScalingMachineSet"]);
  });

  it("gives what is added to the old template, while another one is tried", () => {
    const deployment = aMachineDeployment(misspelt, { spec: { replicas: 5 } });
    const noted = annotated({ [annotationKeys.desiredReplicas]: "3", [annotationKeys.maxReplicas]: "4" });
    const sets = [
      aMachineSet(named("old"), ownedBy(deployment), noted, old, { spec: { replicas: 2 } }),
      aMachineSet(named("new"), ownedBy(deployment), noted, { spec: { replicas: 1 } }),
    ];
    const machinesOf = (uid: string) =>
      sets.flatMap((set) => {
        const names = ["a", "b"].slice(0, set.metadata.uid === uid ? set.spec.replicas : 0);
        return names.map((name) => aMachine(named(`${set.metadata.name}-${name}`), inPhase("Running"), ownedBy(set)));
      });
    const sources = { sets, machinesOf, nodesOf: () => new Map(), disablesScaleDown: true };
    const { actions } = decideMachineDeployment(observeMachineDeployment(deployment, sources, now), now);
    const sizes = actions.flatMap((action) =>
      action.kind === "PatchMachineSet" ? [[action.name, action.patch["spec"]]] : [],
    );
    expect(sizes).toContainEqual(["old", { replicas: 4 }]);
    expect(sizes.filter(([name]) => name === "new")).not.toContainEqual(["new", { replicas: expect.anything() }]);
  });

  it("is not scaled when its spec is invalid, too", () => {
    const invalid = { ...misspelt, spec: { replicas: 5, strategy: { type: "Canary" } } };
    expect(passOver(invalid).actions).toEqual([]);
  });
});

describe("a set that is refused", () => {
  it.each<[string, Change<MachineSet>, readonly string[]]>([
    ["less than no replicas", { spec: { replicas: -1 } }, ["spec.replicas"]],
    ["no selector", { spec: { selector: null } }, ["spec.selector"]],
    ["a selector of other machines", { spec: { selector: { matchLabels: { zone: "a" } } } }, ["spec.selector"]],
    ["a class without a kind", templated({ spec: { class: { kind: "" } } }), ["spec.template.spec.class.kind"]],
    ["a class without a name", templated({ spec: { class: { name: "" } } }), ["spec.template.spec.class.name"]],
  ])("for %s creates and deletes nothing and is reported", (_, change, paths) => {
    const set = aMachineSet(stale, change);
    const machines = [aMachine(ownedBy(set), inPhase("Failed"))];
    const sources = { controlled: machines, others: [], deployment: () => undefined, nodesOf: () => new Map() };
    const { actions, status } = decideMachineSet(machineSetSnapshot(set, sources), now);
    expect(actions).toEqual([]);
    expect(pathsIn(findCondition(status?.machineSetCondition, "SpecValid")?.message)).toEqual(paths);
    expect(status).toMatchObject({ observedGeneration: 4, replicas: 1 });
  });
});
