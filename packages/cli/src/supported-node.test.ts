import { expect, it } from "vitest";
import { oldestNode, unsupportedNode } from "./supported-node.ts";

it.each(["22.19.0", "22.20.1", "23.0.0", "24.21.0", "100.0.0"])("accepts Node %s", (version) => {
  expect(unsupportedNode(version)).toBeUndefined();
});

it.each(["22.18.9", "20.20.2", "18.0.0"])("refuses Node %s, and names the oldest one", (version) => {
  expect(unsupportedNode(version)).toContain(`Node ${oldestNode} or newer, and this is Node ${version}`);
});
