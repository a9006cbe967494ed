import {
  annotationKeys,
  labelKeys,
  type Machine,
  type MachineDeployment,
  taintKeys,
} from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { MachineList, MachinePredicate } from "../../machine-lists/machine-list.ts";
import type { Node } from "../../model/node-objects.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  beingDeleted,
  type Change,
  inPhase,
  named,
} from "../../testing/builders.ts";
import { decideNodes, type NodeDecisionOptions } from "./decide-nodes.ts";
import type { SetView } from "../state/set-size.ts";

const { scaleDownDisabled, scaleDownDisabledByController } = annotationKeys;
const ours = { [scaleDownDisabled]: "true", [scaleDownDisabledByController]: "true" };
const avoided = { key: taintKeys.preferNoSchedule, value: "True", effect: "PreferNoSchedule" };
const theirs = { key: "theirs", effect: "NoSchedule" };

const view = (name: string, ...machines: readonly Machine[]): SetView => ({ set: aMachineSet(named(name)), machines });
const oldMachine = aMachine(named("old-machine"), inPhase("Running"));
const newMachine = aMachine(named("new-machine"), inPhase("Running"));
const preserved = aMachine(oldMachine, { status: { currentStatus: { preserveExpiryTime: "2026-02-01T00:00:00Z" } } });

interface Case {
  readonly strategy?: Change<MachineDeployment>;
  readonly old?: readonly Machine[];
  readonly node?: Partial<Node>;
  readonly options?: Partial<NodeDecisionOptions>;
}

/** Each node after the decision: its annotations, taints, labels; `undefined` for one that is left alone. */
function after({ strategy = {}, old = [oldMachine], node = {}, options = {} }: Case) {
  const deployment = aMachineDeployment(strategy);
  const oldNode = aNode({ metadata: { name: "old", resourceVersion: "3" }, ...node });
  const nodes = new Map([
    ["old-machine", oldNode],
    ["new-machine", aNode({ metadata: { name: "new" } })],
  ]);
  const sets = { oldSets: [view("old-set", ...old)], newSet: view("new-set", newMachine) };
  const changes = decideNodes({ deployment, nodes, sets }, { select: [], isKeptFromScaler: undefined, ...options });
  const result = (name: string, from: Node) => {
    const patch = changes.find((change) => change.name === name)?.patch;
    return patch === undefined ? undefined : applyMergePatch({ metadata: from.metadata, spec: from.spec }, patch);
  };
  return { old: result("old", oldNode), new: result("new", aNode({ metadata: { name: "new" } })), changes };
}

describe("decideNodes", () => {
  it("steers pods away from old nodes, and from these only", () => {
    const { changes } = after({});
    expect(changes).toEqual([
      { name: "old", patch: { metadata: { resourceVersion: "3" }, spec: { taints: [avoided] } } },
    ]);
  });

  it("keeps taints of others, and writes nothing when all is well", () => {
    expect(after({ node: { spec: { taints: [theirs] } } }).old).toMatchObject({ spec: { taints: [theirs, avoided] } });
    expect(after({ node: { spec: { taints: [theirs, avoided] } } }).changes).toEqual([]);
  });

  it("takes the taint away with Recreate, and at the end", () => {
    const tainted = { spec: { taints: [avoided, theirs] } };
    const strategy: Change<MachineDeployment> = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };
    expect(after({ strategy, node: tainted }).old).toMatchObject({ spec: { taints: [theirs] } });
    expect(after({ node: tainted, options: { isOver: true } }).old).toMatchObject({ spec: { taints: [theirs] } });
  });

  it("keeps the autoscaler from old and new nodes", () => {
    const result = after({ options: { isKeptFromScaler: true } });
    expect(result.old).toMatchObject({ metadata: { annotations: ours } });
    expect(result.new).toMatchObject({ metadata: { annotations: ours } });
  });

  it("leaves nodes that are not synchronized yet to the machine controller, where that runs", () => {
    const options = { isKeptFromScaler: "once synchronized" } as const;
    expect(after({ options }).new).toBeUndefined();
    const labels = { [labelKeys.machineName]: "old-machine" };
    expect(after({ node: { metadata: { name: "old", labels } }, options }).old).toMatchObject({
      metadata: { annotations: ours },
    });
  });

  // Cases of MCM, `pkg/controller/deployment_rolling_test.go` removeAutoscalerAnnotationsIfRequired.
  it.each<[string, Case, Readonly<Record<string, string>> | undefined]>([
    [
      "adds nothing to the annotations of a user",
      {
        node: { metadata: { name: "old", annotations: { [scaleDownDisabled]: "false" } } },
        options: { isKeptFromScaler: true },
      },
      { [scaleDownDisabled]: "false" },
    ],
    [
      "takes back what it set",
      { node: { metadata: { name: "old", annotations: ours } }, options: { isKeptFromScaler: false } },
      {},
    ],
    [
      "removes no annotation of a user",
      {
        node: { metadata: { name: "old", annotations: { [scaleDownDisabled]: "true" } } },
        options: { isKeptFromScaler: false },
      },
      { [scaleDownDisabled]: "true" },
    ],
    [
      "leaves those of a preserved machine to its preservation",
      {
        old: [preserved],
        node: { metadata: { name: "old", annotations: ours } },
        options: { isKeptFromScaler: false },
      },
      ours,
    ],
    ["leaves them as they are in between", { node: { metadata: { name: "old", annotations: ours } } }, ours],
  ])("%s", (_, given, expected) => {
    expect(after(given).old).toMatchObject({ metadata: { annotations: expected } });
  });

  it("leaves nodes that go, and those of machines that go", () => {
    const going = { metadata: { name: "old", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(after({ node: going, options: { isKeptFromScaler: true } }).old).toBeUndefined();
    const machine = aMachine(oldMachine, beingDeleted());
    expect(after({ old: [machine], options: { isKeptFromScaler: true } }).old).toBeUndefined();
  });

  it("writes to a node once that two machines name, as the newer set wants it", () => {
    const node = aNode({ metadata: { name: "same" } });
    const nodes = new Map([
      ["going", node],
      ["old-machine", node],
      ["new-machine", node],
    ]);
    const going = aMachine(named("going"), beingDeleted());
    const options = { select: [], isKeptFromScaler: undefined };
    const sets = { oldSets: [view("old-set", going, oldMachine)], newSet: view("new-set", newMachine) };
    const snapshot = { deployment: aMachineDeployment(), nodes, sets };
    expect(decideNodes(snapshot, options)).toEqual([]);
  });

  it("decides the same about a list that finds the machines whose nodes have to change", () => {
    const machines = [oldMachine, aMachine(named("marked"), inPhase("Running")), aMachine(named("other"))];
    const list: MachineList = Object.assign([...machines], {
      lookup: {
        where: (predicate: MachinePredicate) => machines.filter(predicate),
        count: (predicate: MachinePredicate) => machines.filter(predicate).length,
        sortedBy: () => machines,
        predicateFor: (_: object, __: object, make: () => MachinePredicate) => make(),
      },
    });
    const nodes = new Map([
      ["old-machine", aNode({ metadata: { name: "old" } })],
      ["marked", aNode({ metadata: { name: "marked" }, spec: { taints: [avoided] } })],
    ]);
    const deployment = aMachineDeployment({
      spec: {
        strategy: { type: "InPlaceUpdate", rollingUpdate: null, inPlaceUpdate: { orchestrationType: "Auto" } },
      },
    });
    const decided = (given: MachineList, select: readonly string[]) => {
      const sets = { oldSets: [{ ...view("old-set"), machines: given }], newSet: view("new-set", newMachine) };
      return decideNodes({ deployment, nodes, sets }, { select, isKeptFromScaler: undefined });
    };
    for (const select of [[], ["marked"]]) expect(decided(list, select)).toEqual(decided(machines, select));
    expect(decided(list, ["marked"])).not.toEqual(decided(list, []));
  });

  it("has nothing to do without nodes, or without a set of the template", () => {
    const snapshot = {
      deployment: aMachineDeployment({
        spec: {
          strategy: { type: "InPlaceUpdate", rollingUpdate: null, inPlaceUpdate: { orchestrationType: "Auto" } },
        },
      }),
      sets: { oldSets: [view("old-set", oldMachine)], newSet: undefined },
    };
    const options = { select: [], isKeptFromScaler: undefined };
    expect(decideNodes(snapshot, options)).toEqual([]);
    const nodes = new Map([["old-machine", aNode({ metadata: { name: "old" } })]]);
    const [change] = decideNodes({ ...snapshot, nodes }, options);
    expect(change?.patch).toEqual({ spec: { taints: [avoided] } });
  });

  it("keeps labels that a person set by hand under another strategy", () => {
    const node: Partial<Node> = { metadata: { name: "old", labels: { [labelKeys.selectedForUpdate]: "true" } } };
    expect(after({ node }).old).toMatchObject({ metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } });
  });

  it("sets the condition of a node whose drain is canceled", () => {
    const node: Partial<Node> = {
      metadata: {
        name: "old",
        labels: { [labelKeys.selectedForUpdate]: "true" },
        annotations: { [annotationKeys.inPlaceUpdate]: '{"set":"new","schedulable":true}' },
      },
      status: { conditions: [{ type: "InPlaceUpdate", status: "True", reason: "SelectedForUpdate" }] },
    };
    const { changes } = after({ node });
    expect(changes[0]?.condition).toMatchObject({ type: "InPlaceUpdate", reason: "CandidateForUpdate" });
    // The labels are gone, the condition is not yet.
    const revoked: Partial<Node> = {
      ...node,
      metadata: {
        name: "old",
        annotations: { [annotationKeys.inPlaceUpdate]: '{"set":"new","schedulable":true,"revoked":true}' },
      },
      spec: { taints: [avoided] },
    };
    const [change] = after({ node: revoked }).changes;
    expect(change).toEqual({ name: "old", condition: expect.objectContaining({ reason: "CandidateForUpdate" }) });
  });
});
