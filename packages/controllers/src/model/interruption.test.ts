import { describe, expect, it } from "vitest";
import { aMachine, aNode, annotated } from "../testing/builders.ts";
import { testNow } from "../testing/snapshots.ts";
import { interruptionDeadline, interruptionOf, storedInterruption } from "./interruption.ts";

const tainted = (...taints: readonly { readonly key: string; readonly value?: string }[]) =>
  aNode({ spec: { taints: taints.map((taint) => ({ ...taint, effect: "NoSchedule" })) } });

const own = "machine.millwright.dev/interruption";
const aws = "aws-node-termination-handler/spot-itn";
const gcp = "cloud.google.com/impending-node-termination";

describe("the notice that the cloud reclaims a VM", () => {
  it.each([
    ["of the handler for AWS", tainted({ key: aws, value: "spot-itn-0123" }), { taint: aws, noticeMs: 120_000 }],
    ["of the handler for Google Cloud", tainted({ key: gcp }), { taint: gcp, noticeMs: 30_000 }],
    [
      "of the handler for Azure",
      tainted({ key: "aks-node-termination-handler/preempt", value: "event" }),
      { taint: "aks-node-termination-handler/preempt", noticeMs: 30_000 },
    ],
    ["of our own taint, with its time", tainted({ key: own, value: "90s" }), { taint: own, noticeMs: 90_000 }],
    ["without a time", tainted({ key: own }), { taint: own, noticeMs: 30_000 }],
    ["with a time that is none", tainted({ key: own, value: "-5m" }), { taint: own, noticeMs: 30_000 }],
    ["that ends first, of several", tainted({ key: aws }, { key: gcp }), { taint: gcp, noticeMs: 30_000 }],
  ])("is a taint %s", (_, node, notice) => expect(interruptionOf(node)).toEqual(notice));

  it.each([
    ["other taints", tainted({ key: "node.kubernetes.io/unschedulable" }, { key: "constructor" })],
    ["no taint", aNode()],
    ["no node", undefined],
  ])("is not there with %s", (_, node) => expect(interruptionOf(node)).toBeUndefined());

  it("has a deadline from its observation on, which counts while the node shows it, and for no later drain", () => {
    const notice = { taint: aws, noticeMs: 120_000 };
    const machine = aMachine(
      annotated({ "machine.millwright.dev/interruption-deadline": interruptionDeadline(notice, testNow) }),
    );
    const end = testNow.getTime() + 120_000;
    expect(storedInterruption(machine, tainted({ key: aws }), testNow.getTime())).toBe(end);
    expect(storedInterruption(machine, aNode(), testNow.getTime())).toBeUndefined();
    expect(storedInterruption(machine, tainted({ key: aws }), end + 1)).toBeUndefined();
    expect(storedInterruption(aMachine(), tainted({ key: aws }), testNow.getTime())).toBeUndefined();
  });
});
