import {
  finalizers,
  labelKeys,
  type MachineDeployment,
  type Machine,
  type MachineSet,
} from "@millwright/core/machine-api";
import { findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { unreadTargetHold } from "../cluster/unread-target.ts";
import { desiredReplicas, line, maxReplicas, now, oldClass, revision } from "../testing/deployment-decisions.ts";
import { decideMachineDeployment } from "./decide.ts";
import { observeMachineDeployment } from "./observe.ts";

const noted = annotated({ [desiredReplicas]: "3", [maxReplicas]: "4" });
const strategy = (type: string): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type,
      ...(type === "RollingUpdate" ? {} : { rollingUpdate: null }),
      ...(type === "InPlaceUpdate" ? { inPlaceUpdate: { orchestrationType: "Auto" } } : {}),
    },
  },
});

/** Decides about a deployment whose sets have so many machines, all of them Running. */
function decide(
  areNodesUnread: boolean,
  change: Change<MachineDeployment>,
  sizes: Readonly<Record<string, number>>,
  ofMachine: Change<Machine> = {},
) {
  const deployment = aMachineDeployment(annotated({ [revision]: "2" }), change);
  const sets = Object.entries(sizes).map(([name, replicas]): MachineSet =>
    aMachineSet(
      named(name),
      ownedBy(deployment),
      noted,
      { spec: { replicas } },
      name === "new" ? {} : oldClass(name),
      annotated({ [revision]: name === "new" ? "2" : "1" }),
    ),
  );
  const machinesOf = (uid: string): readonly Machine[] => {
    const set = sets.find(({ metadata }) => metadata.uid === uid);
    return Array.from({ length: set?.spec.replicas ?? 0 }, (_, index) =>
      aMachine(named(`${set?.metadata.name}-${index}`), inPhase("Running"), ofMachine),
    );
  };
  const sources = {
    sets,
    machinesOf,
    nodesOf: () => new Map(),
    ...(areNodesUnread ? { commonHolds: [unreadTargetHold] } : {}),
    disablesScaleDown: true,
  };
  return decideMachineDeployment(observeMachineDeployment(deployment, sources, now), now);
}
const sizesAfter = (...given: Parameters<typeof decide>): readonly string[] =>
  decide(...given).actions.map((action) =>
    action.kind === "PatchMachineSet"
      ? `${action.name} ${JSON.stringify((action.patch["spec"] as { readonly replicas?: number } | undefined)?.replicas)}`
      : line(action),
  );

describe("a deployment while the Nodes of its machines were never listed", () => {
  it("creates the set of a new deployment, and scales one that is not being updated", () => {
    expect(sizesAfter(true, {}, {})).toEqual(["CreateMachineSet of 3"]);
    expect(sizesAfter(true, { spec: { replicas: 5 } }, { new: 3 })).toEqual(["new 5"]);
    expect(sizesAfter(true, { spec: { replicas: 3 } }, { new: 0 })).toContain("new 3");
  });

  it.each(["RollingUpdate", "Recreate", "InPlaceUpdate"])("begins no replacement with strategy %s", (type) => {
    const sizes = { old: 3, new: 0 };
    const before = sizesAfter(true, strategy(type), sizes).filter((text) => /^(old|new) \d/.test(text));
    expect(before).toEqual([]);
    expect(sizesAfter(false, strategy(type), sizes).some((text) => /^(old|new) \d/.test(text))).toBe(true);
  });

  it("reports what its rollout waits for", () => {
    const { status } = decide(true, {}, { old: 3, new: 0 });
    expect(findCondition(status?.conditions, "Progressing")?.message).toContain(
      "Rollout waits for the API server of the Nodes, which is unreachable",
    );
  });

  it("does not end the hand-over of a machine, whose node may have marks", () => {
    const received = labeled({ [labelKeys.updateResult]: "successful" });
    const patches = (areNodesUnread: boolean) =>
      decide(areNodesUnread, strategy("InPlaceUpdate"), { new: 3 }, received).actions.filter(
        ({ kind }) => kind === "PatchMachine",
      );
    expect([patches(false).length, patches(true).length]).toEqual([3, 0]);
  });

  it("keeps its sets when it is deleted without them, until the marks of its nodes can be removed", () => {
    const deployment = aMachineDeployment({
      metadata: { ...beingDeleted().metadata, finalizers: [finalizers.machine] },
    });
    const sets = [aMachineSet(named("set"), ownedBy(deployment))];
    const released = (areNodesUnread: boolean) => {
      const sources = {
        sets,
        machinesOf: () => [],
        nodesOf: () => new Map(),
        ...(areNodesUnread ? { commonHolds: [unreadTargetHold] } : {}),
        disablesScaleDown: true,
      };
      const snapshot = observeMachineDeployment(deployment, sources, now);
      return decideMachineDeployment({ ...snapshot, orphaning: "released" }, now).actions.map(line);
    };
    expect([released(false), released(true)]).toEqual([["OrphanMachineSet set"], []]);
  });
});
