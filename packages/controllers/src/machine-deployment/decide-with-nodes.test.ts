import {
  annotationKeys,
  finalizers,
  labelKeys,
  type Machine,
  type MachineDeployment,
  taintKeys,
} from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { actionsOf, desiredReplicas, now, oldClass, revision } from "../testing/deployment-decisions.ts";

describe("decideMachineDeployment, for machines with nodes", () => {
  const both = [
    { name: "old", replicas: 3 },
    { name: "new", replicas: 1 },
  ];

  describe("with nodes", () => {
    const taint = { key: taintKeys.preferNoSchedule, value: "True", effect: "PreferNoSchedule" };
    const scaler = {
      [annotationKeys.scaleDownDisabled]: "true",
      [annotationKeys.scaleDownDisabledByController]: "true",
    };
    const marked = aNode({ metadata: { name: "node", annotations: scaler }, spec: { taints: [taint] } });

    function withNode(change: Change<MachineDeployment>, disablesScaleDown = true, isOld = true) {
      const deployment = aMachineDeployment(annotated({ [revision]: "1" }), change);
      const set = aMachineSet(
        named("set"),
        ownedBy(deployment),
        annotated({ [revision]: "1" }),
        isOld ? oldClass() : {},
      );
      const machines = new Map([["uid-set", [aMachine(named("a"), inPhase("Running"))]]]);
      const claim = { owned: [set], adopt: [], release: [] };
      const nodes = new Map([["a", marked]]);
      return decideMachineDeployment(
        deploymentSnapshot({ deployment, claim, machines, nodes, disablesScaleDown, problems: [] }),
        now,
      ).actions;
    }
    const cleaned = (metadata?: object) => ({
      kind: "PatchNodes",
      nodes: [{ name: "node", patch: { ...(metadata === undefined ? {} : { metadata }), spec: { taints: [] } } }],
    });
    const released = { annotations: Object.fromEntries(Object.keys(scaler).map((key) => [key, null])) };

    it("leaves a node that has just joined to the machine controller of the same process", () => {
      const deployment = aMachineDeployment(annotated({ [revision]: "1" }));
      const set = aMachineSet(named("set"), ownedBy(deployment), annotated({ [revision]: "1" }), oldClass());
      const machines = new Map([["uid-set", [aMachine(named("a"), inPhase("Running"))]]]);
      const nodes = new Map([["a", aNode({ metadata: { name: "node" } })]]);
      const observed = { deployment, claim: { owned: [set], adopt: [], release: [] }, machines, nodes, problems: [] };
      const newest = aMachineSet(named("new"), ownedBy(deployment), annotated({ [revision]: "2" }));
      const textOf = (awaitsFirstSync: boolean): string => {
        const claim = { ...observed.claim, owned: [set, newest] };
        const snapshot = deploymentSnapshot({ ...observed, claim, awaitsFirstSync });
        return JSON.stringify(decideMachineDeployment(snapshot, now).actions);
      };
      expect(textOf(false)).toContain(annotationKeys.scaleDownDisabledByController);
      expect(textOf(true)).toContain("PatchNodes");
      expect(textOf(true)).not.toContain(annotationKeys.scaleDownDisabledByController);
    });

    it("leaves nothing on the nodes of sets that it leaves behind, and deletes none", () => {
      const orphaning = { metadata: { ...beingDeleted().metadata, finalizers: [finalizers.machine, "orphan"] } };
      expect(withNode(orphaning)).toEqual([cleaned(released)]);
      expect(actionsOf(orphaning, both)).toEqual([]);
    });

    it("releases the sets that the garbage collector did not see, when nothing is left on their nodes", () => {
      const deployment = aMachineDeployment({
        metadata: { ...beingDeleted().metadata, finalizers: [finalizers.machine] },
      });
      const claim = { owned: [aMachineSet(named("set"), ownedBy(deployment))], adopt: [], release: [] };
      const snapshot = deploymentSnapshot({
        deployment,
        claim,
        machines: new Map(),
        problems: [],
        orphaning: "released",
      });
      expect(decideMachineDeployment(snapshot, now).actions).toEqual([{ kind: "OrphanMachineSet", name: "set" }]);
    });

    it("removes the autoscaler's annotations when scale-down need not be disabled", () => {
      expect(withNode({}, false, false)).toContainEqual(cleaned(released));
      expect(withNode({}, true, false)).toContainEqual(cleaned());
    });

    it("keeps the autoscaler away as long as an old set has machines, be none of them available", () => {
      const deployment = aMachineDeployment(annotated({ [revision]: "1" }));
      const old = aMachineSet(named("old"), ownedBy(deployment), annotated({ [revision]: "0" }), oldClass(), {
        spec: { replicas: 1 },
        status: { replicas: 1, readyReplicas: 0, availableReplicas: 0 },
      });
      const { actions } = decideMachineDeployment(
        deploymentSnapshot({
          deployment,
          claim: {
            owned: [old, aMachineSet(named("new"), ownedBy(deployment), annotated({ [revision]: "1" }))],
            adopt: [],
            release: [],
          },
          machines: new Map([["uid-old", [aMachine(named("a"), inPhase("Unknown"))]]]),
          nodes: new Map([["a", aNode({ metadata: { name: "node" } })]]),
          problems: [],
        }),
        now,
      );
      expect(actions).toContainEqual({
        kind: "PatchNodes",
        nodes: [{ name: "node", patch: { metadata: { annotations: scaler }, spec: { taints: [taint] } } }],
      });
    });

    it("leaves nodes as they are while paused", () => {
      expect(withNode({ spec: { paused: true } }, false, false).map(({ kind }) => kind)).not.toContain("PatchNodes");
    });
  });

  it("ends a hand-over when the set has a place for the machine, and not before", () => {
    const deployment = aMachineDeployment(annotated({ [revision]: "1" }));
    const received = aMachine(named("a"), inPhase("Running"), labeled({ [labelKeys.updateResult]: "successful" }));
    const end = {
      kind: "PatchMachine",
      name: "a",
      patch: { metadata: { labels: { [labelKeys.updateResult]: null } } },
    };
    const decideWith = (replicas: number | null, others: readonly Machine[] = []) => {
      const set = aMachineSet(named("set"), ownedBy(deployment), annotated({ [revision]: "1" }), {
        spec: { replicas },
      });
      const machines = new Map([["uid-set", [received, ...others]]]);
      const claim = { owned: [set], adopt: [], release: [] };
      return decideMachineDeployment(deploymentSnapshot({ deployment, claim, machines, problems: [] }), now).actions;
    };
    expect(decideWith(0)).not.toContainEqual(end);
    expect(decideWith(null)).not.toContainEqual(end);
    expect(decideWith(1)).toContainEqual(end);
    // Surplus machines of the set are deleted only when it does not count one as just received.
    const others = ["b", "c", "d"].map((name) => aMachine(named(name), inPhase("Running")));
    expect(decideWith(3, others)).toContainEqual(end);
  });

  it("names a few of many machines that it selects", () => {
    const deployment = aMachineDeployment({
      spec: {
        replicas: 7,
        strategy: {
          type: "InPlaceUpdate",
          rollingUpdate: null,
          inPlaceUpdate: { maxSurge: 0, maxUnavailable: 7, orchestrationType: "Auto" },
        },
      },
    });
    const noted = annotated({ [desiredReplicas]: "7" });
    const old = aMachineSet(named("old"), ownedBy(deployment), noted, { spec: { replicas: 7 } }, oldClass());
    const fresh = aMachineSet(named("new"), ownedBy(deployment), noted, { spec: { replicas: 0 } });
    const own = Array.from({ length: 7 }, (_, index) => aMachine(named(`m${index}`), inPhase("Running")));
    const snapshot = deploymentSnapshot({
      deployment,
      claim: { owned: [old, fresh], adopt: [], release: [] },
      machines: new Map([["uid-old", own]]),
      nodes: new Map(own.map(({ metadata }) => [metadata.name, aNode({ metadata: { name: `n-${metadata.name}` } })])),
      problems: [],
    });
    expect(decideMachineDeployment(snapshot, now).because.map(({ message }) => message)).toEqual([
      "Selected for in-place update: m0, m1, m2, m3, m4 and 2 more",
    ]);
  });
});
