import { annotationKeys, type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import type { Node } from "../model/node-objects.ts";
import {
  aMachine,
  aMachineSet,
  annotated,
  aNode,
  inPhase,
  labeled,
  named,
  ownedBy,
  testNamespace,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createMachineSetController } from "./controller.ts";
import { planReplicas } from "./plan-replicas.ts";

const { preserve, lastAppliedNodePreserveValue } = annotationKeys;
const now = new Date("2026-01-02T00:00:00Z");
const set = aMachineSet({ spec: { replicas: 1 } });
const failed = (annotations: Readonly<Record<string, string>> = {}): Machine =>
  aMachine(
    named("m"),
    inPhase("Failed"),
    annotated(annotations),
    labeled({ node: "node-of-m" }),
    { spec: { providerID: "vm-m" } },
    ownedBy(set),
  );
const nodeOf = (value: string | undefined): Node =>
  aNode({ metadata: { name: "node-of-m", annotations: value === undefined ? {} : { [preserve]: value } } });

describe("a Failed machine and the annotation of its node", () => {
  it.each<[string, string | undefined, Readonly<Record<string, string>>, boolean]>([
    ["is kept when the node wants it", "when-failed", {}, false],
    ["is kept when the node wants it and the machine does not", "when-failed", { [preserve]: "false" }, false],
    [
      "is replaced when the node requests that, whatever the machine's annotation",
      "false",
      { [preserve]: "now" },
      true,
    ],
    ["is replaced when the node's value is empty", "", { [preserve]: "now" }, true],
    [
      "is replaced when the annotation of the node was removed",
      undefined,
      { [preserve]: "now", [lastAppliedNodePreserveValue]: "now" },
      true,
    ],
    ["is replaced when the node's value means nothing", "please", { [preserve]: "now" }, true],
    ["is kept when the machine requests it and the node has no annotation", undefined, { [preserve]: "now" }, false],
  ])("%s", (_, value, annotations, isReplaced) => {
    const machine = failed(annotations);
    const plan = planReplicas({ set, owned: [machine], now, nodes: new Map([["m", nodeOf(value)]]) });
    expect(plan.remove.map((each) => each.machine)).toEqual(isReplaced ? [machine] : []);
  });

  it("is kept when it wants that and its node is gone, unlike in MCM", () => {
    expect(planReplicas({ set, owned: [failed({ [preserve]: "when-failed" })], now }).remove).toEqual([]);
  });
});

describe("the controller of sets", () => {
  const stop = new AbortController();
  afterEach(() => stop.abort(new Error("the test is over")));

  it("reads the nodes of its machines", async () => {
    const { api, clock, newContext, run } = createTestCluster();
    api.seed(machineSetResource, set);
    api.seed(machineResource, failed());
    api.seed(nodeResource, nodeOf("when-failed"));
    const context = newContext();
    await run(context, stop.signal);
    void createMachineSetController(context, 1).start(stop.signal);
    await clock.advance(1_000);
    expect(api.all<Machine>(machineResource).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);

    api.change(nodeResource, { name: "node-of-m" }, { metadata: { annotations: { [preserve]: "false" } } });
    // The machine controller records the value of the node, which requeues the set.
    api.change(
      machineResource,
      { namespace: testNamespace, name: "m" },
      annotated({ [lastAppliedNodePreserveValue]: "false" }),
    );
    await clock.advance(1_000);
    const left = api.all<Machine>(machineResource).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left.map(({ metadata }) => metadata.name)).not.toContain("m");
  });
});
