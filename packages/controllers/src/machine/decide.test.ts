import { readMachine } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted, inPhase } from "../testing/builders.ts";
import { aSnapshot, itsNode, kindsOf, lastly, later, testNow, withVm } from "../testing/snapshots.ts";
import { decideMachine } from "./decide.ts";

const withoutFinalizer = { metadata: { finalizers: ["other"], resourceVersion: "5" } };
const unlabelledNode = { ...itsNode(), metadata: { name: "node" } };

describe("decideMachine", () => {
  it("puts the finalizer on before anything that could leave a VM behind", () => {
    expect(decideMachine(aSnapshot({ machine: aMachine(withoutFinalizer) }), testNow)).toEqual({
      actions: [
        {
          kind: "PatchMachine",
          patch: {
            metadata: { finalizers: ["other", "machine.sapcloud.io/machine-controller-manager"], resourceVersion: "5" },
          },
        },
      ],
      because: [],
    });
  });

  it("puts no finalizer on a machine that is being deleted", () => {
    const machine = aMachine(withoutFinalizer, beingDeleted());
    expect(decideMachine(aSnapshot({ machine }), testNow)).toEqual({ actions: [], because: [] });
  });

  it("creates, or takes apart, or follows the node: one of the three", () => {
    expect(kindsOf(decideMachine(aSnapshot(), testNow))).toEqual(["StartOperation"]);
    const going = aSnapshot({ machine: aMachine(beingDeleted()), hasTarget: false });
    expect(decideMachine(going, testNow).actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    const living = aSnapshot({ machine: aMachine(withVm, inPhase("Running")), node: unlabelledNode });
    expect(kindsOf(decideMachine(living, testNow))).toEqual(["PatchNode"]);
  });

  it("makes no VM for a Failed machine", () => {
    const machine = aMachine(inPhase("Failed"));
    expect(decideMachine(aSnapshot({ machine }), later(3_600_000))).toMatchObject({ actions: [], because: [] });
  });

  it("does nothing but tell about an object that has not the shape of a machine", () => {
    const result = readMachine({ metadata: { name: "m" }, spec: { providerID: 3 } });
    const problems = result.ok ? [] : result.problems;
    const machine = aMachine(beingDeleted());
    expect(decideMachine(aSnapshot({ machine, isReadable: false, problems }), testNow)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "InvalidMachine", message: expect.stringContaining("spec.providerID") }],
    });
  });

  it("tells of a changed phase before it touches the node, which may refuse", () => {
    const machine = aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"));
    const node = { ...unlabelledNode, status: { conditions: [{ type: "Ready", status: "True" }] } };
    const decision = decideMachine(aSnapshot({ machine, node }), testNow);
    expect(decision).toMatchObject({ actions: [], because: [{ reason: "NodeJoined" }] });
  });

  it("puts template and name on a node that has not become ready yet, and keeps the deadline in mind", () => {
    const machine = aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"));
    const node = { ...unlabelledNode, status: { conditions: [{ type: "Ready", status: "False" }] } };
    const decision = decideMachine(aSnapshot({ machine, node }), testNow);
    expect(decision).toMatchObject({ actions: [{ kind: "PatchNode" }], wakeAfterMs: 600_001, because: [] });
  });

  it("does nothing in steady state", () => {
    const node = itsNode();
    const machine = aMachine(withVm, inPhase("Running"), { status: { conditions: node.status?.conditions ?? [] } });
    expect(decideMachine(aSnapshot({ machine, node }), testNow)).toEqual({
      actions: [],
      because: [],
    });
  });
});
