import { expect, it } from "vitest";
import { renderTree } from "./render-tree.ts";

const layout = { now: new Date(0), width: 80, paint: (_: unknown, text: string): string => text };
const leaf = { state: "ok", causes: [], children: [] } as const;

it("names siblings in the same state together, with the plural of their kind", () => {
  const node = { ...leaf, kind: "Node", name: "a", others: ["b", "c", "d", "e"], summary: "Ready" } as const;
  const classes = { ...leaf, kind: "MachineClass", name: "x", others: ["y"], summary: "does not exist" } as const;
  const machine = { ...leaf, kind: "Machine", name: "a", others: ["b", "c", "d", "e"], summary: "Running" } as const;
  expect(renderTree({ ...machine, children: [node, classes] }, layout)).toEqual([
    "5 Machines a, b, c and 2 more: Running",
    "├─ 5 Nodes a, b, c and 2 more: Ready",
    "└─ 2 MachineClasses x, y: does not exist",
  ]);
});
