import { expect, it } from "vitest";
import { annotationKeys } from "../../wire/annotations.ts";
import { startupTaintProblems } from "./validate-machine.ts";

const listing = (text: string) => ({ [annotationKeys.startupTaints]: text });

it("accepts a list of keys, with spaces", () => {
  expect(startupTaintProblems(undefined, "x")).toEqual([]);
  expect(startupTaintProblems(listing(" "), "x")).toEqual([]);
  expect(startupTaintProblems(listing("node.cilium.io/agent-not-ready, gpu"), "x")).toEqual([]);
});

it.each([
  ["a=b:NoSchedule", "a=b:NoSchedule"],
  ["a,b:NoExecute", "b:NoExecute"],
  ['["a"]', '["a"]'],
  ["a,", ""],
  [",", ""],
])("rejects %j, and names what is not a key", (text, wrong) => {
  expect(startupTaintProblems(listing(text), "metadata.annotations")).toEqual([
    {
      path: "metadata.annotations[machine.millwright.dev/startup-taints]",
      message: `must list keys of taints without value and effect, such as node.cilium.io/agent-not-ready,example.com/gpu; ${JSON.stringify(wrong)} is not a key`,
      kind: "invalid",
    },
  ]);
});
