import { expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aNode } from "../../testing/builders.ts";
import { isRelevantNodeChange } from "./node-changes.ts";

const withReason = (reason: string): Partial<Node> => ({
  status: { conditions: [{ type: "InPlaceUpdate", status: "True", reason }] },
});

it.each<[string, Node | undefined, Node | undefined, boolean]>([
  ["a node that joins", undefined, aNode(), true],
  ["a node that goes", aNode(), undefined, true],
  ["a label", aNode(), aNode({ metadata: { labels: { a: "b" } } }), true],
  ["an annotation", aNode(), aNode({ metadata: { annotations: { a: "b" } } }), true],
  ["a cordon", aNode(), aNode({ spec: { unschedulable: true } }), true],
  ["a step of an in-place update", aNode(withReason("SelectedForUpdate")), aNode(withReason("DrainSuccessful")), true],
  ["a heartbeat", aNode(), aNode({ metadata: { resourceVersion: "9" }, status: { conditions: [] } }), false],
])("takes %s for what it is", (_, old, current, expected) => {
  expect(isRelevantNodeChange(old, current)).toBe(expected);
});
