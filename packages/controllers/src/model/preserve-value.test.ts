import { annotationKeys } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aMachine, annotated } from "../testing/builders.ts";
import { itsNode } from "../testing/snapshots.ts";
import {
  isNodeInControl,
  isToBePreserved,
  preserveValueOf,
  preserveValueProblem,
  type PreserveWishes,
  preserveAnnotationsOf,
} from "./preserve-value.ts";

const wishes = (
  node: string | undefined,
  machine: string | undefined,
  lastApplied = "",
  hasNode = true,
): PreserveWishes => ({
  node,
  machine,
  lastApplied,
  hasNode,
});

describe("the value that counts (MCM, `pkg/util/provider/machinecontroller/machine_test.go`)", () => {
  it.each<[string, PreserveWishes, string | undefined]>([
    ["the machine's, when the node never said anything", wishes(undefined, "now"), "now"],
    ["nothing, when nobody says anything", wishes(undefined, undefined), ""],
    ["nothing, when the node took back what it said", wishes(undefined, undefined, "now"), ""],
    ["nothing, when the node took back what it said, whatever the machine says", wishes(undefined, "now", "now"), ""],
    ["the node's", wishes("now", undefined), "now"],
    ["the node's against the machine's", wishes("when-failed", "now"), "when-failed"],
    ["the node's once it was acted on", wishes("now", "now", "now"), "now"],
    ["the node's when it has changed", wishes("now", "now", "false"), "now"],
    // Present and empty means stop.
    ["nothing, when the node's is empty", wishes("", undefined), ""],
    ["nothing, when the node's is empty, whatever the machine says", wishes("", "now"), ""],
    ["the machine's without a node, whatever the node said", wishes(undefined, "now", "false", false), "now"],
    ["unknown, when the node's means nothing", wishes("forever", "now"), undefined],
    ["unknown, when the node's has another case", wishes("Now", undefined), undefined],
    ["nothing, when the machine's means nothing", wishes(undefined, "forever"), ""],
    ["nothing, when the machine's is empty", wishes(undefined, ""), ""],
    ["false, when someone says so", wishes(undefined, "false"), "false"],
    ["auto-preserved, when a set says so", wishes(undefined, "auto-preserved"), "auto-preserved"],
  ])("is %s", (_, given, value) => {
    expect(preserveValueOf(given)).toBe(value);
    expect(isToBePreserved(given)).toBe(value !== undefined && !["", "false"].includes(value));
  });

  it("is read from the annotations", () => {
    const machine = aMachine(
      annotated({ [annotationKeys.preserve]: "now", [annotationKeys.lastAppliedNodePreserveValue]: "false" }),
    );
    const node = itsNode({ metadata: { annotations: { [annotationKeys.preserve]: "" } } });
    expect(preserveAnnotationsOf(machine, node)).toEqual(wishes("", "now", "false"));
    expect(preserveAnnotationsOf(aMachine(), undefined)).toEqual(wishes(undefined, undefined, "", false));
    expect(isNodeInControl(preserveAnnotationsOf(machine, undefined))).toBe(false);
  });
});

describe("a value that means nothing", () => {
  it.each<[string, PreserveWishes, string | undefined]>([
    [
      "of the node is told with those that do",
      wishes("forever", "now"),
      'Annotation node.machine.sapcloud.io/preserve of the Node of machine m is "forever", expected one of now, when-failed, auto-preserved, false; nothing is done until it is mended or removed',
    ],
    [
      "of the machine is told with those that do",
      wishes(undefined, "yes"),
      'Annotation node.machine.sapcloud.io/preserve of machine m is "yes", expected one of now, when-failed, auto-preserved, false; it is ignored',
    ],
    ["of the machine does not matter where the node decides", wishes("now", "yes"), undefined],
    ["and is empty is a way to say nothing", wishes("", ""), undefined],
    ["is none of the four", wishes("auto-preserved", undefined), undefined],
  ])("%s", (_, given, problem) => {
    expect(preserveValueProblem(given, "m")).toBe(problem);
  });

  it("is repeated up to a length, whatever it holds", () => {
    expect(preserveValueProblem(wishes(`"\n${"x".repeat(100_000)}`, undefined), "m")?.length).toBeLessThan(350);
  });
});
