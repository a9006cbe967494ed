import { labelKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { itsNode, withVm } from "../../testing/snapshots.ts";
import { creating, decide, healthy, joinedBefore, nodeWith, sick } from "../../testing/node-health.ts";

describe("the label of the node", () => {
  const misnamed = aMachine(withVm, inPhase("Pending"), creating, { metadata: { labels: { node: "expected" } } });

  it("is set right when the node with the machine's provider id has another name", () => {
    const { actions, status } = decide({ machine: misnamed, node: nodeWith(healthy), nodeMatch: "same" });
    expect(actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: { uid: "uid-machine", labels: { node: "node" } } } },
    ]);
    expect(status?.currentStatus?.phase).toBe("Running");
  });

  it("is set right together with the type and the zone of the VM, where the machine has none", () => {
    const node = nodeWith(healthy);
    const place = { "node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "eu-1a" };
    const placed = { ...node, metadata: { ...node.metadata, labels: place } };
    const patchOf = (labels: Readonly<Record<string, string>>) =>
      decide({ machine: aMachine(misnamed, { metadata: { labels } }), node: placed, nodeMatch: "same" }).actions;
    const patched = (labels: Readonly<Record<string, string>>) => [
      { kind: "PatchMachine", patch: { metadata: { uid: "uid-machine", labels: { node: "node", ...labels } } } },
    ];
    expect([patchOf({}), patchOf(place)]).toEqual([patched(place), patched({})]);
  });

  it.each([
    ["Running, of a class that names neither", "Running", "same", {}, ["m5.large", "eu-1a"]],
    ["Running, in the zone of a fallback", "Running", "same", { [labelKeys.zone]: "eu-1b" }, ["m5.large", undefined]],
    ["Running, with both", "Running", "same", { [labelKeys.instanceType]: "a", [labelKeys.zone]: "b" }, undefined],
    ["Pending, whose Node may still get a zone", "Pending", "same", {}, undefined],
    ["Running, whose Node only has its name", "Running", "unknown", {}, undefined],
  ] as const)(
    "comes with type and zone of the Node for a machine that is %s",
    (_, phase, nodeMatch, known, expected) => {
      const node = nodeWith(sick);
      const place = { [labelKeys.instanceType]: "m5.large", [labelKeys.zone]: "eu-1a" };
      const placed = { ...node, metadata: { ...node.metadata, labels: place } };
      const labels = { [labelKeys.node]: node.metadata.name, ...known };
      const machine = aMachine(withVm, inPhase(phase), joinedBefore, { metadata: { labels } });
      const { actions } = decide({ machine, node: placed, nodeMatch });
      const patched = actions.flatMap((action) => (action.kind === "PatchMachine" ? [action.patch] : []));
      const [instanceType, zone] = expected ?? [];
      const written = {
        ...(instanceType === undefined ? {} : { [labelKeys.instanceType]: instanceType }),
        ...(zone === undefined ? {} : { [labelKeys.zone]: zone }),
      };
      expect(patched).toEqual(expected === undefined ? [] : [{ metadata: { uid: "uid-machine", labels: written } }]);
    },
  );

  it("is set right without waiting for health, and for this very machine only", () => {
    const { creationTimestamp = "" } = misnamed.metadata;
    const nameless = { ...misnamed, metadata: { name: "machine", creationTimestamp } };
    const { actions } = decide({ machine: nameless, node: nodeWith(sick), nodeMatch: "same" });
    expect(actions).toEqual([{ kind: "PatchMachine", patch: { metadata: { labels: { node: "node" } } } }]);
  });

  it.each([
    ["only names link the node to the machine", "node", "unknown"],
    ["it is right", "expected", "same"],
  ] as const)("is left alone when %s", (_, name, nodeMatch) => {
    const node = nodeWith(healthy);
    const named = { ...node, metadata: { ...node.metadata, name } };
    expect(decide({ machine: misnamed, node: named, nodeMatch }).actions).toEqual([]);
  });
});

// MCM adopts any node of the right name (pkg/util/provider/machinecontroller/machine_util.go, reconcileMachineHealth).
describe("a node of the machine's name that belongs to another VM", () => {
  const foreignNode = itsNode({ spec: { providerID: "vm-0" } });
  const text = "Node node has provider id vm-0, machine machine has vm-1. Node is not adopted";

  it("is reported once by a machine that waits for its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const first = decide({ machine, foreignNode });
    expect(first).toMatchObject({
      status: { lastOperation: { description: text, type: "Create", state: "Processing" } },
      because: [{ type: "Warning", reason: "ProviderIDMismatch", message: text }],
    });
    const reported = { ...machine, status: first.status ?? {} };
    expect(decide({ machine: reported, foreignNode })).toMatchObject({
      status: first.status,
      because: [],
    });
  });

  it("makes a Running machine Unknown, with its description", () => {
    const machine = aMachine(withVm, inPhase("Running"), joinedBefore);
    expect(decide({ machine, foreignNode })).toMatchObject({
      status: { currentStatus: { phase: "Unknown" }, lastOperation: { description: text } },
      because: [{ reason: "ProviderIDMismatch" }],
    });
  });

  it("does not matter once the machine has its own", () => {
    const machine = aMachine(withVm, inPhase("Pending"), creating);
    const { because } = decide({ machine, foreignNode, node: nodeWith(sick) });
    expect(because).toEqual([]);
  });

  it("is named with what is known of it", () => {
    const bare = { metadata: { name: "node" } };
    const machine = aMachine(inPhase("Pending"), creating);
    const { because } = decide({ machine, foreignNode: bare });
    expect(because[0]?.message).toBe("Node node has provider id , machine machine has . Node is not adopted");
  });
});
