import { finalizers, readMachine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { intentAnnotation, intentFor, noRequestAnnotation } from "../model/creation-intent.ts";
import { aMachine, aMachineClass, annotated, beingDeleted, inPhase } from "../testing/builders.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  lastly,
  later,
  machineAfter,
  testNow,
  unusable,
  withVm,
} from "../testing/snapshots.ts";
import { decideMachine } from "./decide.ts";

const withoutFinalizer = { metadata: { finalizers: ["other"], resourceVersion: "5" } };
const unlabeledNode = { ...itsNode(), metadata: { name: "node" } };

describe("decideMachine", () => {
  const finalized = { finalizers: ["other", "machine.sapcloud.io/machine-controller-manager"], resourceVersion: "5" };

  it("adds the finalizer before anything that could orphan a VM, and with it the intent", () => {
    const snapshot = aSnapshot({ machine: aMachine(withoutFinalizer) });
    const decision = decideMachine(snapshot, testNow);
    expect(decision).toEqual({
      actions: [
        {
          kind: "PatchMachine",
          patch: {
            metadata: {
              ...finalized,
              annotations: {
                "machine.millwright.dev/creation-intent":
                  '{"attempt":1,"class":"small","provider":"mock","secretRef":"small"}',
              },
            },
          },
        },
      ],
      because: [],
    });
    const machine = machineAfter(snapshot, decision);
    expect(kindsOf(decideMachine(aSnapshot({ machine }), testNow))).toEqual(["StartOperation"]);
  });

  const noClass = { classView: unusable("MachineClassNotFound", "no class", true) };
  it.each([
    ["whose class cannot be used", noClass],
    ["that is wrong itself", { problems: [{ path: "spec", message: "is wrong", kind: "invalid" as const }] }],
  ])("records with the finalizer that no VM was requested for a machine %s", (_, change) => {
    const snapshot = aSnapshot({ machine: aMachine(withoutFinalizer), ...change });
    const decision = decideMachine(snapshot, testNow);
    expect(decision.actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: { ...finalized, annotations: noRequestAnnotation } } },
    ]);
    const machine = machineAfter(snapshot, decision);
    expect(decideMachine(aSnapshot({ machine }), testNow).actions).toMatchObject([
      {
        patch: {
          metadata: { annotations: { "machine.millwright.dev/creation-intent": expect.stringContaining("small") } },
        },
      },
      { kind: "StartOperation", operation: "create" },
    ]);
  });

  it.each([
    ["that failed before without a record, whose VM may exist", noClass, inPhase("CrashLoopBackOff")],
    [
      "with an intent",
      noClass,
      annotated(intentAnnotation(intentFor(aMachine(), aMachineClass(), { wantsToken: false }))),
    ],
    ["that has its VM", {}, withVm],
    ["that is Failed", {}, inPhase("Failed")],
  ])("puts the finalizer alone on a machine %s", (_, change, own) => {
    const machine = aMachine(withoutFinalizer, own);
    expect(decideMachine(aSnapshot({ machine, ...change }), testNow).actions).toEqual([
      { kind: "PatchMachine", patch: { metadata: finalized } },
    ]);
  });

  it("puts no finalizer on a machine that is being deleted", () => {
    const machine = aMachine(withoutFinalizer, beingDeleted());
    expect(decideMachine(aSnapshot({ machine }), testNow).actions).toEqual([]);
  });

  it("creates, or takes apart, or follows the node: one of the three", () => {
    expect(kindsOf(decideMachine(aSnapshot(), testNow))).toEqual(["PatchMachine", "StartOperation"]);
    const going = aSnapshot({ machine: aMachine(beingDeleted()), hasTarget: false });
    expect(decideMachine(going, testNow).actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    const living = aSnapshot({ machine: aMachine(withVm, inPhase("Running")), node: unlabeledNode });
    expect(kindsOf(decideMachine(living, testNow))).toEqual(["PatchNode"]);
  });

  it("trusts a healthy node when the driver fails to report an initialized VM (row 6)", () => {
    const machine = aMachine(withVm, inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "x"));
    const operation = failed("find", "Internal", { isAcknowledged: true });
    const { status } = decideMachine(aSnapshot({ machine, operation, node: itsNode() }), testNow);
    expect(status).toMatchObject({ currentStatus: { phase: "Running" }, lastOperation: { state: "Successful" } });
    const waits = decideMachine(aSnapshot({ machine, operation }), testNow);
    expect([waits.actions, waits.requeueAfterMs]).toEqual([[], 180_000]);
  });

  it("creates no VM for a Failed machine", () => {
    const machine = aMachine(inPhase("Failed"));
    expect(decideMachine(aSnapshot({ machine }), later(3_600_000))).toMatchObject({ actions: [], because: [] });
  });

  it("only reports an object that has not the shape of a machine", () => {
    const result = readMachine({ metadata: { name: "m" }, spec: { providerID: 3 } });
    const problems = result.ok ? [] : result.problems;
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, isReadable: false, problems }), testNow)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "InvalidMachine", message: expect.stringContaining("spec.providerID") }],
    });
  });

  it("patches the node before the machine is Running for the first time, and not with other changes of the phase", () => {
    const machine = aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"));
    const node = { ...unlabeledNode, status: { conditions: [{ type: "Ready", status: "True" }] } };
    const decision = decideMachine(aSnapshot({ machine, node }), testNow);
    expect(decision).toMatchObject({
      actions: [{ kind: "PatchNode", name: "node", patch: { metadata: { finalizers: [finalizers.node] } } }],
      status: { currentStatus: { phase: "Running" } },
      because: [{ reason: "NodeJoined" }],
    });
    // They wait for nothing: the next reconcile patches the node.
    const lost = { ...node, status: { conditions: [{ type: "Ready", status: "False" }] } };
    const running = aMachine(withVm, inPhase("Running"), { status: { conditions: node.status.conditions } });
    const unknown = decideMachine(aSnapshot({ machine: running, node: lost }), testNow);
    expect(unknown).toMatchObject({ actions: [], because: [{ reason: "NodeUnhealthy" }] });
  });

  it("puts template and name on a node that has not become ready yet, and keeps the deadline in mind", () => {
    const machine = aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"));
    const node = { ...unlabeledNode, status: { conditions: [{ type: "Ready", status: "False" }] } };
    const decision = decideMachine(aSnapshot({ machine, node }), testNow);
    expect(decision).toMatchObject({ actions: [{ kind: "PatchNode" }], requeueAfterMs: 600_001, because: [] });
  });

  it("does nothing in steady state", () => {
    const node = itsNode({ metadata: { finalizers: [finalizers.node] } });
    const machine = aMachine(withVm, inPhase("Running"), { status: { conditions: node.status?.conditions ?? [] } });
    expect(decideMachine(aSnapshot({ machine, node }), testNow)).toEqual({
      actions: [],
      because: [],
    });
  });
});
