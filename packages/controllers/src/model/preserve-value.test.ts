import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, annotated } from "../testing/builders.ts";
import { itsNode } from "../testing/snapshots.ts";
import {
  isNodeInControl,
  isToBePreserved,
  preserveValueOf,
  preserveValueProblem,
  type PreserveAnnotations,
  preserveAnnotationsOf,
} from "./preserve-value.ts";

const requested = (
  node: string | undefined,
  machine: string | undefined,
  lastApplied = "",
  hasNode = true,
): PreserveAnnotations => ({
  node,
  machine,
  lastApplied,
  hasNode,
});

describe("the value that counts (MCM, `pkg/util/provider/machinecontroller/machine_test.go`)", () => {
  it.each<[string, PreserveAnnotations, string | undefined]>([
    ["the machine's, when the node never had one", requested(undefined, "now"), "now"],
    ["none, without annotations", requested(undefined, undefined), ""],
    ["none, when the node lost its annotation", requested(undefined, undefined, "now"), ""],
    ["none, when the node lost its annotation, whatever the machine's", requested(undefined, "now", "now"), ""],
    ["the node's", requested("now", undefined), "now"],
    ["the node's against the machine's", requested("when-failed", "now"), "when-failed"],
    ["the node's once it was applied", requested("now", "now", "now"), "now"],
    ["the node's when it has changed", requested("now", "now", "false"), "now"],
    // Present and empty means stop.
    ["nothing, when the node's is empty", requested("", undefined), ""],
    ["none, when the node's is empty, whatever the machine's", requested("", "now"), ""],
    ["the machine's without a node, whatever the node's was", requested(undefined, "now", "false", false), "now"],
    ["unknown, when the node's is invalid", requested("forever", "now"), undefined],
    ["unknown, when the node's has another case", requested("Now", undefined), undefined],
    ["none, when the machine's is invalid", requested(undefined, "forever"), ""],
    ["nothing, when the machine's is empty", requested(undefined, ""), ""],
    ["false, when a user sets it", requested(undefined, "false"), "false"],
    ["auto-preserved, when a set sets it", requested(undefined, "auto-preserved"), "auto-preserved"],
  ])("is %s", (_, given, value) => {
    expect(preserveValueOf(given)).toBe(value);
    expect(isToBePreserved(given)).toBe(value !== undefined && !["", "false"].includes(value));
  });

  it("is read from the annotations", () => {
    const machine = aMachine(
      annotated({ [annotationKeys.preserve]: "now", [annotationKeys.lastAppliedNodePreserveValue]: "false" }),
    );
    const node = itsNode({ metadata: { annotations: { [annotationKeys.preserve]: "" } } });
    expect(preserveAnnotationsOf(machine, node)).toEqual(requested("", "now", "false"));
    expect(preserveAnnotationsOf(aMachine(), undefined)).toEqual(requested(undefined, undefined, "", false));
    expect(isNodeInControl(preserveAnnotationsOf(machine, undefined))).toBe(false);
  });
});

describe("an invalid value", () => {
  it.each<[string, PreserveAnnotations, string | undefined]>([
    [
      "of the node is reported with the valid ones",
      requested("forever", "now"),
      'Annotation node.machine.sapcloud.io/preserve of the Node of machine m is "forever", must be one of now, when-failed, auto-preserved, false; preservation does not change until it is fixed or removed',
    ],
    [
      "of the machine is reported with the valid ones",
      requested(undefined, "yes"),
      'Annotation node.machine.sapcloud.io/preserve of machine m is "yes", must be one of now, when-failed, auto-preserved, false; it is ignored',
    ],
    ["of the machine does not matter where the node decides", requested("now", "yes"), undefined],
    ["and is empty is valid", requested("", ""), undefined],
    ["is none of the four", requested("auto-preserved", undefined), undefined],
  ])("%s", (_, given, problem) => {
    expect(preserveValueProblem(given, "m")).toBe(problem);
  });

  it("is repeated up to a length, whatever it holds", () => {
    expect(preserveValueProblem(requested(`"\n${"x".repeat(100_000)}`, undefined), "m")?.length).toBeLessThan(350);
  });
});
