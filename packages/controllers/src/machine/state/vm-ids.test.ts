import { expect, test } from "vitest";
import { aMachine, aMachineClass, beingDeleted } from "../../testing/builders.ts";
import {
  aSnapshot,
  kindsOf,
  machineAfter,
  later,
  type SnapshotChange,
  succeeded,
  testNow,
} from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const long = `ip-10-0-0-1.${"a".repeat(60)}.compute.internal`;

test.each([
  ["a short name", "node-1.example", "node-1.example"],
  ["a name of 63 characters", "n".repeat(63), "n".repeat(63)],
  ["a longer name", long, undefined],
  ["no name", "", undefined],
  ["a name with a slash", "a/b", undefined],
])("the id of a VM is stored, and the label with %s only if it can be one", (_, nodeName, label) => {
  const snapshot = aSnapshot({ operation: succeeded("create", { providerId: "vm-1", nodeName }) });
  const { spec, metadata, status } = machineAfter(snapshot, decideMachine(snapshot, testNow));
  expect([spec.providerID, metadata.labels?.["node"], status?.currentStatus?.phase]).toEqual([
    "vm-1",
    label,
    "Pending",
  ]);
});

test.each<[string, string]>([
  ["", "no node name"],
  ["a/b\n", 'node name "a/b\\n", which cannot be the label node'],
  ["n".repeat(1000), `node name "${"n".repeat(80)}…", which cannot be the label node`],
])(
  "the node name %j is reported as event and last operation, and again when the node has not joined in time",
  (nodeName, name) => {
    const snapshot = aSnapshot({ operation: succeeded("create", { providerId: "vm-1", nodeName }) });
    const decision = decideMachine(snapshot, testNow);
    const message = `The driver returned ${name}. The Node is found only by its provider id`;
    expect(decision.because).toContainEqual({ type: "Warning", reason: "UnusableNodeName", message });
    const machine = machineAfter(snapshot, decision);
    expect(machine.status?.lastOperation?.description).toBe(
      `Created VM on cloud provider; waiting for its Node to join the cluster. ${message}`,
    );
    const timedOut = decideMachine(aSnapshot({ machine }), later(3_600_000)).status;
    expect([timedOut?.currentStatus?.phase, timedOut?.lastOperation?.description]).toEqual([
      "Failed",
      expect.stringMatching(/failed to join the cluster.*The Node is found only by its provider id$/),
    ]);
  },
);

test("a node name is of no use without a target cluster, and nothing is reported", () => {
  const operation = succeeded("create", { providerId: "vm-1", nodeName: "" });
  const decision = decideMachine(aSnapshot({ operation, hasTarget: false }), testNow);
  expect([decision.because.length, decision.status?.addresses]).toEqual([1, undefined]);
});

test.each([long, "", "a/b"])("the node name %j does not keep a deletion from the driver", (nodeName) => {
  const machine = aMachine({ spec: { providerID: "vm-1" } }, beingDeleted());
  const decision = decideMachine(
    aSnapshot({ machine, operation: succeeded("find", { providerId: "vm-1", nodeName }) }),
    testNow,
  );
  expect(kindsOf(decision)).toContain("StartOperation");
  expect(decision.actions).toContainEqual({ kind: "StartOperation", operation: "delete" });
});

const place = { instanceType: "m5.large", zone: "eu-1a" };
const ofClass = (nodeTemplate: typeof place, name = "small", fallbacks: readonly object[] = []) => ({
  state: "usable" as const,
  machineClass: aMachineClass({
    metadata: { name },
    nodeTemplate: { capacity: {}, region: "eu", ...nodeTemplate },
    providerSpec: { fallbacks },
  }),
});

test.each<[string, SnapshotChange, Partial<typeof place>]>([
  ["of its class", { classView: ofClass(place) }, place],
  [
    "of its class, as far as they can be labels",
    { classView: ofClass({ ...place, zone: "a/b" }) },
    { instanceType: "m5.large" },
  ],
  [
    "of the machine's own labels",
    {
      classView: ofClass(place),
      machine: aMachine({ metadata: { labels: { "topology.kubernetes.io/zone": "eu-1b" } } }),
    },
    { ...place, zone: "eu-1b" },
  ],
  ["not of a class with fallbacks, one of which the VM may be", { classView: ofClass(place, "small", [{}]) }, {}],
  ["not of a class that stands in for its own", { classView: ofClass(place, "other") }, {}],
])("type and zone of a VM are stored with its id: %s", (_, change, { instanceType, zone }) => {
  const snapshot = aSnapshot({ operation: succeeded("create", { providerId: "vm-1", nodeName: "node-1" }), ...change });
  const decision = decideMachine(snapshot, testNow);
  expect(kindsOf(decision).filter((kind) => kind === "PatchMachine")).toHaveLength(1);
  const { spec, metadata } = machineAfter(snapshot, decision);
  const { labels = {} } = metadata;
  expect([spec.providerID, labels["node.kubernetes.io/instance-type"], labels["topology.kubernetes.io/zone"]]).toEqual([
    "vm-1",
    instanceType,
    zone,
  ]);
});
